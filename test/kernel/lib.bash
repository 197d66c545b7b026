# What the tests of the kernel engine share. Source it: . ./lib.bash
. "$SRC/test/lib.bash"

[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
"$DTRACE" -x engine=bpf -qn 'BEGIN { exit(0); }' 2>"$TMP/err" ||
	{ echo "no BPF here: $(tail -n 1 "$TMP/err")"; exit 77; }
command -v gcc >/dev/null || { echo "needs gcc"; exit 77; }
ulimit -c 0

# program NAME [LIBRARIES]: build test/kernel/NAME.c; the program is $TMP/NAME
program() {
	gcc -O2 -Wall -Wextra -o "$TMP/$1" "$SRC/test/kernel/$1.c" "${@:2}" || { echo "cannot build $1"; exit 1; }
}

# ktrace ARGS: dtrace on the kernel engine; output in $out, messages in $err, status in $status.
ktrace() {
	timeout $((100 + 10 * ${SLOW:-0})) "$DTRACE" -x engine=bpf "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	status=$?
	out=$(cat "$TMP/out"; echo .) out=${out%.}
	err=$(cat "$TMP/err")
}

# lost WORDS: how many, added up over all messages: lost "drops? on CPU"
lost() {
	sed -nE "s/^dtrace: ([0-9]+) $1.*/\\1/p" "$TMP/err" | awk '{ n += $1 } END { print n + 0 }'
}
# lines PATTERN: how many lines of output match
lines() { grep -cE -- "$1" "$TMP/out"; }
# total PATTERN: sum of the last fields of the lines that match
total() { awk -v p="$1" '$0 ~ p { n += $NF } END { print n + 0 }' "$TMP/out"; }

# wait_for SECONDS COMMAND: until it succeeds
wait_for() {
	local n=$(($1 * 20))
	shift
	while ! "$@"; do
		[ $((n--)) -gt 0 ] || return 1
		sleep 0.05
	done
}

# module NAME [OPTIONS]: the kernel has it, or gets it from its package (guests)
module() {
	local dir
	[ -e "/sys/module/$1" ] && return
	for dir in / "$SRC"/build/kernels/*/; do
		[ -d "$dir/lib/modules/$(uname -r)" ] && modprobe -d "$dir" "$@" 2>/dev/null && return
	done
	return 1
}

# find_disk: $disk is a directory of an ext4 that can be written, or empty. Guests get one in memory; call leave_disk at the end.
disk= made_disk=
find_disk() {
	local dir
	for dir in "$TMP" /var/tmp "$SRC" /; do
		case $(stat -f -c %T "$dir" 2>/dev/null) in ext*) [ -w "$dir" ] && disk=$dir && return ;; esac
	done
	module loop || return
	dd if=/dev/zero of="$TMP/disk" bs=1M count=24 status=none
	mkfs.ext4 -q "$TMP/disk" && mkdir "$TMP/mnt" && mount -o loop "$TMP/disk" "$TMP/mnt" && disk=$TMP/mnt made_disk=$disk
}
leave_disk() { [ -z "$made_disk" ] || umount "$made_disk" 2>/dev/null; }

# Slower machines (emulated guests) do less.
scale() { echo $(($1 / ${SLOW:-1})); }

# ---- every probe of a provider fires, and the kernel has nothing to complain of ----

# watch PROVIDER...: note from here on which of their probes fire, and where the kernel's log is. Another dtrace does that, beside those
# of the test; it ends with the test, however that ends.
watch() {
	local p text=
	watched=$*
	for p; do text="$text${text:+, }$p:::"; done
	mark="dtrace test $$ begins"
	echo "$mark" >/dev/kmsg 2>/dev/null
	timeout 900 "$DTRACE" -x engine=bpf -x aggsize=4m -qo "$TMP/watch.out" -n "
		BEGIN { printf(\"ready\\n\"); }
		$text { @[probeprov, probemod, probefunc, probename] = count(); }
		proc:::exit /pid == $$/ { exit(0); }
		END { printa(\"%s:%s:%s:%s\\n\", @); }" >/dev/null 2>"$TMP/watch.err" </dev/null &
	watcher=$!
	wait_for 100 grep -qs ready "$TMP/watch.out" || { echo "cannot watch $*"; cat "$TMP/watch.err"; exit 1; }
}

# fired ["PATTERN: why it cannot be made to fire here"...]: all probes that are listed have fired since watch, except those.
fired() {
	local p e
	kill -TERM "$watcher"
	wait "$watcher"
	for p in $watched; do "$DTRACE" -lP "$p" | awk 'NR > 1 { print $2 ":" $3 ":" (NF > 4 ? $4 : "") ":" $NF }'; done | sort -u >"$TMP/listed"
	grep : "$TMP/watch.out" | sort -u | comm -23 "$TMP/listed" - >"$TMP/silent"
	for e; do
		grep -E -- "${e%%: *}" "$TMP/silent" >"$TMP/excused" && echo "not fired here, ${e#*: }: $(xargs <"$TMP/excused")"
		grep -vE -- "${e%%: *}" "$TMP/silent" >"$TMP/rest"
		mv "$TMP/rest" "$TMP/silent"
	done
	expect "" "$(cat "$TMP/silent")" "probes that nothing has fired"
	expect "" "$(dmesg 2>/dev/null | sed -n "/$mark/,\$p" |
		grep -E 'WARNING:|BUG:|Oops|stall|general protection|protection fault|Call Trace|lockup|blocked for more|Bad page|refcount_t' | grep -v 'traps:')" "the kernel complains"
}

# fields CLAUSE [ARGS] <<lines: every member of translated types, of a real event. CLAUSE is probe and /predicate/; the first firing counts. A line
# "= TYPE VALUE" begins a type, VALUE is an expression of it. The lines behind it are a member and a condition in D each, in which % is its value. All members that
# lib/*.d gives the type must be there. ARGS are for dtrace. What they were stays in $TMP/fields as "TYPE.MEMBER 1 VALUE".
fields() {
	local clause=$1 type value member condition
	shift
	echo "int seen; $clause { seen++; }" >"$TMP/fields.d"
	: >"$TMP/fields.has"
	: >"$TMP/fields.want"
	while read -r member condition; do
		if [ "$member" = = ]; then
			type=${condition%% *} value=${condition#* }
			awk -v type="$type" '/^typedef struct/ { n = 0 } /^\t.*;/ { sub(/;.*/, ""); k = split($0, w, /[ \t*]+/); m[n++] = w[k] }
				$0 == "} " type ";" { for (i = 0; i < n; i++) print type "." m[i] }' "$SRC"/lib/*.d >>"$TMP/fields.has"
			continue
		fi
		echo "$type.$member 1" >>"$TMP/fields.want"
		# trace() prints a string as one, and a number as one
		echo "${clause%/} && seen == 1/ { printf(\"$type.$member %d \", ${condition//%/($value->$member)}); trace($value->$member); printf(\"\\n\"); }" >>"$TMP/fields.d"
	done
	expect "$(sort "$TMP/fields.has")" "$(sed -E 's/^([^.]*\.[^. ]*).*/\1/' "$TMP/fields.want" | sort -u)" "members"
	ktrace -q -s "$TMP/fields.d" "$@"
	expect 0 "$status" "$clause: $err"
	expect "" "$err" "$clause: messages"
	grep -aE '^[a-z0-9_]+\.[a-z0-9_.]+ [01] ' "$TMP/out" >"$TMP/fields"
	expect "$(sort "$TMP/fields.want")" "$(cut -d ' ' -f 1,2 "$TMP/fields" | sort)" "$clause"
	cut -d ' ' -f 1,2 "$TMP/fields" | grep -q ' 0$' && cat "$TMP/fields"
	return 0
}

# Every example of doc/tutorial.md, doc/guide.md, doc/processes.md, doc/seeing.md, doc/process-engine.md, doc/from-*.md and doc/providers/*.md does what the text says.
# timeout: 400
#
# A fenced block is an example by its first words:
#
#	```d NAME		a file (d, c, sh, python): saved under this name for the examples after it, in its chapter
#	```console		commands ("$ " first, "> " continues) and their exact output
#	```console shape	the lines shown are printed, somewhere: any number stands for any other,
#				any kernel symbol for any other, blanks and bars are of any length;
#				a line "..." stands for anything
#	```console compile	commands that are only compiled (-e)
#	status=N		after console: the status of the last command (0)
#	needs=WHAT		after console: skipped unless there are such probes (fbt::vfs_read:entry), or such
#				a symbol (vmlinux`register_fprobe), or such a command (/usr/bin/node), or a disk below
#				/var/tmp (disk)
#
# Standard output and standard error are merged. The path of the dtrace under test is shown as
# /usr/local/sbin/dtrace. Examples that need the kernel run only where this user may use it; the others run on
# both engines then. `test/run --update doc/guide` puts what is printed now into the text (shapes: only empty
# ones): read the difference before you commit it. CHAPTER=providers/pid.md runs only that one.
set -u
: "${TMP:=$(mktemp -d)}"
mkdir -p "$TMP/bin" "$TMP/work"
chmod 755 "$TMP" "$TMP/bin" "$TMP/work"
printf '#!/bin/sh\nexec "%s" ${GUIDE_ENGINE:+-x engine=$GUIDE_ENGINE} ${GUIDE_COMPILE:+-e} "$@"\n' "$DTRACE" >"$TMP/bin/dtrace"
printf '#!/bin/sh\nexec "%s/dwatch" ${GUIDE_COMPILE:+-e} "$@"\n' "$BUILD" >"$TMP/bin/dwatch"
chmod 755 "$TMP/bin/dtrace" "$TMP/bin/dwatch"
export PATH=$TMP/bin:$PATH LC_ALL=C TZ=UTC
cd "$TMP/work" || exit 2

kernel=0
"$DTRACE" -x engine=bpf -qn 'BEGIN { exit(0); }' >/dev/null 2>&1 && kernel=1
NEEDS='[a-z$]+:[^ ]*:[^ ]*:|syscall|sdt:|profile-|tick-|(^|[^@])stack\(|curthread|engine=bpf|caller| -c | -p '
ran=0 failed=0 left=0

needs_kernel() { # command: listing and compiling do not
	local text=$1 flags s
	for s in *.d; do [ -f "$s" ] && [[ $text == *"$s"* ]] && text+=$(cat "$s"); done
	[ -n "${GUIDE_COMPILE-}" ] && return 1
	flags=${1##*dtrace } flags=" ${flags%% -c *} " # without those of other programs
	[[ $flags =~ \ -([a-zA-Z]*[le]|Se|lv)[a-zA-Z]*\  && $text != *sdt:* ]] && return 1
	grep -qE "$NEEDS" <<<"$text"
}

trim() { awk '/^$/ { n++; next } { for (; n > 0; n--) print ""; print }'; }

# The CPU a probe fired on is arbitrary.
cpu0() {
	sed -E -e 's/^(  [0-9]| [0-9]{2}|[0-9]{3})( +[0-9]+ +[^ ]*:[^ ]+)/  0\2/' \
		-e 's/^(  [0-9]| [0-9]{2}|[0-9]{3}) ( *(->|<-|=>|<=|\|) )/  0 \2/'
}

# Lines of $1 that no line of $2 looks like.
missing() {
	awk '
	function squeeze(s) { sub(/ on CPUs [0-9,-]+$/, " on CPU 0", s); gsub(/[ \t]+/, " ", s); sub(/^ /, "", s); sub(/ $/, "", s); return s }
	function pattern(s) {
		s = squeeze(s)
		gsub(/[][\\.^$(){}?*+|\/]/, "\\\\&", s)
		gsub(/[A-Za-z0-9_-]+`[A-Za-z0-9_.$\\]+(\\\+0x[0-9a-f]+)?/, "\001", s)
		gsub(/0x[0-9a-f]+/, "\002", s)
		gsub(/[0-9]+/, "[0-9]+", s)
		gsub(/\002/, "0x[0-9a-f]+", s)
		gsub(/\001/, "([^ ]+`[^ ]+|0x[0-9a-f]+)", s)
		gsub(/\\\|[@ ]+/, "[|][@ ]*", s)
		return "^" s "$"
	}
	NR == FNR { if ($0 != "" && $0 != "...") want[++n] = $0; next }
	{ got[++m] = squeeze($0) }
	END {
		for (i = 1; i <= n; i++) {
			p = pattern(want[i])
			for (j = 1; j <= m; j++) if (got[j] ~ p) break
			if (j > m) print want[i]
		}
	}' "$1" "$2"
}

# Run one command; $TMP/got is what it prints. Once more if it says that it has lost events of processes: others that run
# beside us start or map as much as they can (trust/new_names, processes/lost), and every tracer has to see that.
try() { # command, status, shape, line, engine, how often before
	rm -rf "$TMP/run"
	cp -r "$TMP/work" "$TMP/run"
	cd "$TMP/run" || return
	GUIDE_ENGINE=$5 timeout -k 2 $((20 + 10 * ${SLOW:-0})) bash -c "$1" >"$TMP/raw" 2>&1 </dev/null 3<&-
	local status=$? why=
	cd "$TMP/work" || return
	sed "s|$DTRACE|/usr/local/sbin/dtrace|g" "$TMP/raw" | trim | { [ "$3" = 1 ] && cat || cpu0; } >"$TMP/got"
	ran=$((ran + 1))
	[ $status = "$2" ] || why="status $status, expected $2"
	if [ "$3" = 1 ]; then
		[ -z "$(missing "$TMP/want" "$TMP/got")" ] || why="not printed: $(missing "$TMP/want" "$TMP/got")"
	else
		cmp -s "$TMP/want" "$TMP/got" || why=$(diff -u --label guide --label printed "$TMP/want" "$TMP/got")
	fi
	[ -z "$why" ] && return
	if [ "${6:-0}" -lt 10 ] && grep -q 'process events\? lost: ' "$TMP/raw"; then
		ran=$((ran - 1))
		try "${@:1:5}" $((${6:-0} + 1))
		return
	fi
	failed=$((failed + 1))
	printf '\ndoc/%s:%d: %s%s\n%s\n' "$chapter" "$4" "$1" "${5:+ (engine $5)}" "$why"
	[ "$3" = 1 ] && sed 's/^/  | /' "$TMP/got" | head -n 30
}

# Can a user without privilege run dtrace where it is (not below /root)?
other_user() { setpriv --reuid=65534 --regid=65534 --clear-groups sh -c '"$1" -V' sh "$DTRACE" >/dev/null 2>&1; }

example() { # command, status, shape, line; what it should print is in $TMP/want
	if [ $lacks = 1 ] || { [[ $1 == setpriv* ]] && ! other_user; }; then
		left=$((left + 1))
		cp "$TMP/want" "$TMP/got"
	elif ! needs_kernel "$1"; then
		try "$@" ""
		cp "$TMP/got" "$TMP/got.auto"
		[ $kernel = 1 ] && [ "${UPDATE-0}" = 0 ] && [ -z "${GUIDE_COMPILE-}" ] && try "$@" bpf
		mv "$TMP/got.auto" "$TMP/got"
	elif [ $kernel = 1 ]; then
		try "$@" ""
	else
		left=$((left + 1))
		cp "$TMP/want" "$TMP/got"
	fi
}

# The commands of one block: its lines are in $TMP/block, beginning at line $1.
block() { # line, status, shape
	local line=$1 at=0 n=0 total cmd= l
	total=$(grep -c '^\$ ' "$TMP/block")
	flush() {
		[ -n "$cmd" ] || return
		n=$((n + 1))
		trim <"$TMP/want.raw" >"$TMP/want"
		example "$cmd" "$([ $n = "$total" ] && echo "$2" || echo 0)" "$3" "$at"
		cat "$TMP/shown" >>"$TMP/new"
		if [ "${UPDATE-0}" = 1 ] && { [ "$3" = 0 ] || [ ! -s "$TMP/want" ]; }; then cat "$TMP/got"; else cat "$TMP/want"; fi >>"$TMP/new"
		cmd=
	}
	while IFS= read -r l; do
		line=$((line + 1))
		if [[ $l == '$ '* ]]; then
			flush "$@"
			cmd=${l:2} at=$line
			printf '%s\n' "$l" >"$TMP/shown"
			: >"$TMP/want.raw"
		elif [[ $l == '> '* ]] && [ ! -s "$TMP/want.raw" ]; then
			cmd+=$'\n'${l:2}
			printf '%s\n' "$l" >>"$TMP/shown"
		else
			printf '%s\n' "$l" >>"$TMP/want.raw"
		fi
	done <"$TMP/block"
	flush "$@"
}

# Is there what needs=WHAT names?
there_is() {
	case $1 in
	"") return 0 ;;
	*:*) [ $kernel = 1 ] && [ -n "$(timeout 100 "$DTRACE" -ln "$1" 2>/dev/null | sed 1d)" ] ;;
	vmlinux\`*) grep -qw "${1#*\`}" /proc/kallsyms ;;
	disk) [ -b "$(df --output=source /var/tmp 2>/dev/null | tail -n 1)" ] ;; # /var/tmp lies on one
	*) command -v "$1" >/dev/null ;;
	esac
}

run_chapter() { # its path below doc/
local text number=0 info='' start=0 status lacks=0 chapter=$1 GUIDE=$SRC/doc/$1
: >"$TMP/new"
rm -rf "$TMP/work"
mkdir "$TMP/work"
cd "$TMP/work" || exit 2
while IFS= read -r text <&3; do
	number=$((number + 1))
	if [ -z "$info" ]; then
		printf '%s\n' "$text" >>"$TMP/new"
		[[ $text == '```'* ]] || continue
		info=${text#'```'}x start=$number # x: an info string may be empty
		: >"$TMP/block"
	elif [ "$text" = '```' ]; then
		info=${info%x}
		case $info in
		console*)
			status=0 lacks=0
			if [[ $info =~ needs=([^ ]+) ]] && ! there_is "${BASH_REMATCH[1]}"; then lacks=1; fi
			unset GUIDE_COMPILE
			[[ $info == *compile* ]] && export GUIDE_COMPILE=1
			[[ $info =~ status=([0-9]+) ]] && status=${BASH_REMATCH[1]}
			block "$start" "$status" "$([[ $info == *shape* ]] && echo 1 || echo 0)"
			;;
		d\ * | c\ * | sh\ * | python\ *)
			cp "$TMP/block" "$TMP/work/${info#* }"
			chmod 755 "$TMP/work/${info#* }"
			cat "$TMP/block" >>"$TMP/new"
			;;
		*) cat "$TMP/block" >>"$TMP/new" ;;
		esac
		printf '%s\n' "$text" >>"$TMP/new"
		info=
	else
		printf '%s\n' "$text" >>"$TMP/block"
	fi
done 3<"$GUIDE"

if [ "${UPDATE-0}" = 1 ] && ! cmp -s "$GUIDE" "$TMP/new"; then
	cat "$TMP/new" >"$GUIDE"
	echo "wrote doc/$chapter"
fi
}

for path in "$SRC"/doc/tutorial.md "$SRC"/doc/guide.md "$SRC"/doc/processes.md "$SRC"/doc/seeing.md "$SRC"/doc/process-engine.md "$SRC"/doc/from-*.md "$SRC"/doc/providers/*.md; do
	[ -f "$path" ] || continue
	path=${path#"$SRC/doc/"}
	[ -z "${CHAPTER-}" ] || [ "$CHAPTER" = "$path" ] || continue
	run_chapter "$path"
done
echo "$ran runs of examples, $failed failed; $left left out (this kernel or machine cannot)"
[ $ran -gt 0 ] || exit 77
[ $failed = 0 ]

# Functions for shell tests. Source it first: . "$SRC/test/lib.bash"
#
# Checks
#   expect WANT GOT [WHAT]         equal, or a failure with a diff
#   expect_match PATTERN TEXT      an extended regular expression matches somewhere in it
#   count_failure                  the test fails at its end; say why on standard output
#   skip WHY                       end the test as skipped, unless something failed before
#   wait_for SECONDS COMMAND       repeat the command until it succeeds; a failure after that time
#   scale N                        N, or less on a slow machine (an emulated guest)
#   kill ...                       as usual, but only for processes of this test
#   interrupt SIGNAL PID           send it twice, as a person does; the process ends
#   at_end COMMAND                 run it when the test ends, in any way
# Running dtrace: output in $out and $TMP/out, messages in $err and $TMP/err, status in $status
#   dt ARGS                        on the vm engine, which needs no privilege
#   ktrace ARGS                    on the kernel engine
#   trace ARGS                     on the engine that dtrace chooses
#   lines PATTERN                  how many lines of the output match
#   total PATTERN                  sum of the last fields of the lines of the output that match
#   lost WORDS                     sum of the numbers in messages of that kind: lost "drops? on CPU"
#   value KEY                      the number in the line "KEY number" of the output, the last one; or 0
#   labelled KEY                   what follows "KEY: " in a line of the output
#   last_fields                    the last field of every line of the output, in one line
#   sorted                         lines of the output, sorted, with one blank between words
#   said                           output and messages, without newlines at the end
# The machine (see also needs: in doc/testing.md)
#   sanitized                      is this the build of make test-san?
#   module NAME [OPTIONS]          load a kernel module, in guests from the package of their kernel
#   find_disk, leave_disk          $disk is a directory of an ext4, or empty; leave it at the end
#   mount_tmpfs NAME               $dir is an empty file system of that name until the test ends
#   hold_ports                     $port, $port + 1 and $port + 2 are reserved until the test ends
#   noise                          how many complaints about tracing the kernel's log has
# Programs to trace
#   build NAME SOURCE [FLAGS]      compile test/SOURCE to $TMP/NAME
#   own_libraries PROGRAM...       copies of their libraries, in $TMP/lib, for LD_LIBRARY_PATH: other tests have uprobes in all processes
#                                  that have mapped a library, which change its code
#   start ARGS                     run processes/threads.c, which counts; its pid is in $pid
#   moves                          that process still counts
#   field PID WORD                 the first word of a field of /proc/PID/status
#   every PID WORD                 that field of all its threads, each value once
#   running PID                    none of its threads is stopped or traced
#   spy COMMANDS, spied ARGS       run commands while dtrace holds its target processes
# Providers
#   watch PROVIDER...              note from here on which of their probes fire; $probes are their names
#   listed PROBE                   that is one of them
#   explained PROBE FUNCTION       the message for a probe that is not available: functions cannot be traced here
#   fired [EXCEPTION...]           every probe of theirs that is listed has fired since watch
#   fields CLAUSE [ARGS]           every member of translated types has the value it must have
set -u
ulimit -c 0
fails=0
# the name in uregs[] of the register with a function's third argument
case $HOSTTYPE in aarch64) R_ARG2=R_X2 ;; *) R_ARG2=R_RDX ;; esac
failed=$TMP/.failed # a subshell (a part of a pipe) cannot change our $fails
last_commands=
# A child that a signal ends before it has become the program to run would do all this as well. (There bash also takes "!=" for
# false: the condition is written so that an error means no.)
trap 'if [ $BASHPID = $$ ]; then eval "$last_commands"; [ $fails = 0 ] && [ ! -e "$failed" ] || exit 1; fi' EXIT

# ---- checks ----

count_failure() {
	fails=$((fails + 1))
	: >"$failed"
}

expect() {
	[ "$1" = "$2" ] && return
	count_failure
	echo "${3-}${3:+: }unexpected:"
	diff -u --label want --label got <(printf '%s\n' "$1") <(printf '%s\n' "$2")
}

expect_match() {
	grep -qE -- "$1" <<<"$2" && return
	count_failure
	echo "no match for: $1"
	printf 'in: %s\n' "$2"
}

skip() {
	echo "$1"
	exit $((fails ? 1 : 77))
}

wait_for() {
	local end=$((SECONDS + $1 * (${SLOW:-0} > 5 ? SLOW : 5))) # it only matters when it fails
	shift
	while ! "$@"; do
		[ $SECONDS -lt $end ] || { echo "waited in vain for: $*"; count_failure; return 1; }
		sleep 0.05
	done
}

# kill ends only what this test has started: a number may have been given to another process since.
kill() {
	local arg args=() wanted=0 ours=0
	for arg; do
		arg=${arg% } # as /proc/PID/task/TID/children has them
		if [[ $arg != [1-9]* ]]; then
			args+=("$arg")
		elif is_ours "$arg"; then
			args+=("$arg") ours=1
		fi
		[[ $arg != [1-9]* ]] || wanted=1
	done
	[ $wanted = $ours ] || { echo "kill: no such process: $*" >&2; return 1; }
	builtin kill "${args[@]}"
}
# Below this shell, or, if its parent has ended, with the environment of this test.
is_ours() {
	local p=$1 word value above
	while [ "$p" -gt 1 ]; do
		[ "$p" != $$ ] || return 0
		above=0
		while read -r word value; do [ "$word" != PPid: ] || { above=$value; break; }; done 2>/dev/null <"/proc/$p/status"
		p=$above
	done
	grep -qzxF "TMP=$TMP" "/proc/$1/environ" 2>/dev/null
}

# A second signal that comes at once, or soon (ECHO_MS in cmd/), is taken for an echo of the first one; a timer ends that.
interrupt() {
	kill -"$1" "$2"
	wait_for 20 taken "$2"
	sleep 1
	wait_for 20 taken "$2"
	kill -"$1" "$2" 2>/dev/null # it may have ended
	wait_for 20 over "$2" || kill -9 "$2"
}
taken() { awk '/^(SigPnd|ShdPnd)/ { n += $2 != 0 } END { exit n != 0 }' "/proc/$1/status" 2>/dev/null || over "$1"; }
over() { ! kill -0 "$1" 2>/dev/null || [ "$(field "$1" State)" = Z ]; }

scale() { echo $(($1 / ${SLOW:-1})); }
at_end() { last_commands="$1; $last_commands"; }

# ---- running dtrace ----

# run_dtrace COMMAND: $out keeps the newlines at its end.
run_dtrace() {
	"$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	status=$?
	out=$(cat "$TMP/out"; echo .) out=${out%.}
	err=$(cat "$TMP/err")
}
dt() { run_dtrace "$DTRACE" -x engine=vm "$@"; }
ktrace() { run_dtrace timeout 500 "$DTRACE" -x engine=bpf "$@"; }
trace() { run_dtrace timeout 500 "$DTRACE" "$@"; }

lines() { grep -cE -- "$1" "$TMP/out"; }
total() { awk -v p="$1" '$0 ~ p { n += $NF } END { print n + 0 }' "$TMP/out"; }
value() { awk -v k="$1" '$1 == k { n = $2 } END { print n + 0 }' "$TMP/out"; }
labelled() { awk -v k="$1: " 'index($0, k) == 1 { print substr($0, length(k) + 1) }' "$TMP/out"; }
last_fields() { awk 'NF { print $NF }' "$TMP/out" | xargs; }
sorted() { awk 'NF { $1 = $1; print }' "$TMP/out" | sort; }
said() { printf '%s' "$(cat "$TMP/out")$err"; }
lost() { sed -nE "s/^dtrace: ([0-9]+) $1.*/\\1/p" "$TMP/err" | awk '{ n += $1 } END { print n + 0 }'; }

# ---- the machine ----

sanitized() { ldd "$DTRACE" | grep -q libasan; }

module() {
	local dir
	[ -e "/sys/module/$1" ] && return
	for dir in / "$SRC"/build/kernels/*/; do
		[ -d "$dir/lib/modules/$(uname -r)" ] && modprobe -d "$dir" "$@" 2>/dev/null && return
	done
	return 1
}

disk= made_disk= # guests get a disk in memory
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

mount_tmpfs() {
	dir=$TMP/dir
	mkdir -p "$dir"
	mount -t tmpfs "$1" "$dir" || skip "cannot mount tmpfs"
	at_end 'umount "$dir" 2>/dev/null'
}

hold_ports() {
	mkfifo "$TMP/hold"
	/usr/bin/python3 "$SRC/test/providers/net.py" hold <"$TMP/hold" >"$TMP/port" &
	exec {held}>"$TMP/hold" # closed when we end
	wait_for 20 test -s "$TMP/port" || exit 1
	port=$(cat "$TMP/port")
}

noise() { dmesg | grep -cE 'trace_kprobe|ftrace|WARNING|BUG:|Oops'; }

# ---- programs to trace ----

own_libraries() {
	local p library
	mkdir -p "$TMP/lib"
	for p; do
		while read -r library; do cp -nL "$library" "$TMP/lib"; done < <(ldd "$(type -P "$p")" 2>/dev/null | awk '$3 ~ /^\// { print $3 }')
	done
}

build() {
	gcc -O2 -Wall -Wextra -o "$TMP/$1" "$SRC/test/$2" "${@:3}" || { echo "cannot build $1"; exit 1; }
}

start() {
	[ -x "$TMP/threads" ] || build threads processes/threads.c -lpthread
	rm -f "$TMP/count"
	"$TMP/threads" "$TMP/count" "$@" &
	pid=$!
	wait_for 20 test -s "$TMP/count"
}
moves() {
	before=$(cat "$TMP/count")
	wait_for 20 moved
}
moved() { [ "$before" != "$(cat "$TMP/count")" ]; }

field() { awk -v w="$2:" '$1 == w { print $2 }' "/proc/$1/status" 2>/dev/null; }
every() { awk -v w="$2:" '$1 == w && !seen[$2]++ { printf "%s%s", sep, $2; sep = " " }' /proc/"$1"/task/*/status 2>/dev/null; }
running() { case $(every "$1" State) in *[tT]*) return 1 ;; esac; [ "$(every "$1" TracerPid)" = 0 ]; }

# Target processes are held while their script is compiled: the commands run as its C preprocessor, with the
# pid of dtrace in $PPID.
spy() {
	printf '#!/bin/bash\n%s\ngrep -v "^#"\n' "$1" >"$TMP/spy"
	chmod +x "$TMP/spy"
	echo 'BEGIN { exit(0); }' >"$TMP/spy.d"
}
spied() { dt -C -x cpppath="$TMP/spy" -s "$TMP/spy.d" "$@"; }

# ---- providers ----

# Another dtrace notes what fires, beside those that the test starts; it ends with the test, however that ends. The
# kernel's log is marked, so that fired sees what the kernel said since then.
watch() {
	local p text=
	watched=$* probes=
	for p; do
		text="$text${text:+, }$p:::"
		probes="$probes $("$DTRACE" -lP "$p" | awk 'NR > 1 { print $NF }' | xargs)"
	done
	mark="dtrace test $$ begins at $EPOCHREALTIME" # a process id alone comes again
	echo "$mark" >/dev/kmsg 2>/dev/null
	timeout 900 "$DTRACE" -x engine=bpf -x aggsize=4m -qo "$TMP/watch.out" -n "
		BEGIN { printf(\"ready\\n\"); }
		$text { @[probeprov, probemod, probefunc, probename] = count(); }
		proc:::exit /pid == $$/ { exit(0); }
		END { printa(\"%s:%s:%s:%s\\n\", @); }" >/dev/null 2>"$TMP/watch.err" </dev/null &
	watcher=$!
	wait_for 100 grep -qs ready "$TMP/watch.out" || { echo "cannot watch $*"; cat "$TMP/watch.err"; exit 1; }
}

listed() { [[ " $probes " == *" $1 "* ]]; }

explained() {
	"$DTRACE" -n "$1 { exit(0); }" >/dev/null 2>"$TMP/err" && { echo "$1 is not listed, but works"; count_failure; }
	expect_match "$1 needs tracing of the kernel function $2: this kernel " "$(cat "$TMP/err")"
}

# An exception is "PATTERN: why it cannot be made to fire here". A complaint of the kernel is a failure.
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
	# (memory that another test's cgroup lacks is no complaint, though it comes with a call trace)
	expect "" "$(dmesg 2>/dev/null | sed -n "/$mark/,\$p" | awk '/invoked oom-killer/ { oom = 1 } !(oom && /Call Trace/) { print; next } { oom = 0 }' |
		grep -E 'WARNING:|BUG:|Oops|stall|general protection|protection fault|Call Trace|lockup|blocked for more|Bad page|refcount_t' | grep -v 'traps:')" "the kernel complains"
}

# CLAUSE is probe and /predicate/; the first firing counts. ARGS are for dtrace. Standard input has a line "= TYPE VALUE"
# for each type, VALUE being an expression of it, and after it a line for each member: its name and a condition in D, in
# which % is its value. All members that lib/*.d gives the type must be there. The values stay in $TMP/fields as
# "TYPE.MEMBER 1 VALUE".
fields() {
	local clause=$1 type value member condition
	shift
	# one firing: others may happen on other CPUs meanwhile, also between its clauses
	echo "int seen; this int mine; $clause { this->mine = !seen && __claim(0x5eed); seen = 1; }" >"$TMP/fields.d"
	: >"$TMP/fields.has"
	: >"$TMP/fields.want"
	while read -r member condition; do
		if [ "$member" = = ]; then
			type=${condition%% *} value=${condition#* }
			awk -v type="$type" '/^typedef struct/ { n = 0 } /^\t.*;/ { sub(/(\[[0-9]*\])?;.*/, ""); k = split($0, w, /[ \t*]+/); m[n++] = w[k] }
				$0 == "} " type ";" { for (i = 0; i < n; i++) print type "." m[i] }' "$SRC"/lib/*.d >>"$TMP/fields.has"
			continue
		fi
		echo "$type.$member 1" >>"$TMP/fields.want"
		# trace() prints a string as one, and a number as one
		echo "${clause%/} && this->mine/ { printf(\"$type.$member %d \", ${condition//%/($value->$member)}); trace($value->$member); printf(\"\\n\"); }" >>"$TMP/fields.d"
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

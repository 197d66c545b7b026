# What the tests of target processes share. Source it: . ./lib.bash
. "$SRC/test/lib.bash"
command -v gcc >/dev/null || { echo "needs gcc"; exit 77; }
ulimit -c 0
SLOW=${SLOW:-1}

# build NAME SOURCE [FLAGS]: $TMP/NAME from test/proc/SOURCE
build() { gcc -O2 -Wall -Wextra -o "$TMP/$1" "$SRC/test/proc/$2" "${@:3}" || { echo "cannot build $1"; exit 1; }; }

# need_kernel: skip unless system calls can be traced here
need_kernel() {
	[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
	"$DTRACE" -x engine=bpf -qn 'BEGIN { exit(0); }' 2>"$TMP/err" ||
		{ echo "no BPF here: $(tail -n 1 "$TMP/err")"; exit 77; }
}
# ktrace ARGS: dtrace as it comes; output in $out, messages in $err, status in $status
ktrace() {
	timeout 100 "$DTRACE" "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	status=$?
	out=$(cat "$TMP/out"; echo .) out=${out%.}
	err=$(cat "$TMP/err")
}

# wait_for SECONDS COMMAND: until it succeeds
wait_for() {
	local n=$(($1 * 20 * SLOW))
	shift
	while ! "$@"; do
		[ $((n--)) -gt 0 ] || { echo "waited in vain for: $*"; fails=$((fails + 1)); return 1; }
		sleep 0.05
	done
}

# field PID WORD: a field of /proc/PID/status, its first word
field() { awk -v w="$2:" '$1 == w { print $2 }' "/proc/$1/status" 2>/dev/null; }
# every PID WORD: that field of all its threads, each value once
every() { awk -v w="$2:" '$1 == w && !seen[$2]++ { printf "%s%s", sep, $2; sep = " " }' /proc/"$1"/task/*/status 2>/dev/null; }
# running PID: none of its threads is stopped or traced
running() { case $(every "$1" State) in *[tT]*) return 1 ;; esac; [ "$(every "$1" TracerPid)" = 0 ]; }
# moves: the program that counts (threads.c) does so
moves() {
	before=$(cat "$TMP/count")
	wait_for 20 moved
}
moved() { [ "$before" != "$(cat "$TMP/count")" ]; }

# While a script is compiled, processes are held: the preprocessor is a spy then. spy COMMANDS makes one; it
# runs with the pid of dtrace in $PPID. spied ARGS: dtrace with it.
spy() {
	printf '#!/bin/bash\n%s\ngrep -v "^#"\n' "$1" >"$TMP/spy"
	chmod +x "$TMP/spy"
	echo 'BEGIN { exit(0); }' >"$TMP/spy.d"
}
spied() { dt -C -x cpppath="$TMP/spy" -s "$TMP/spy.d" "$@"; }

# start ARGS: a process that counts (threads.c), in $pid
start() {
	[ -x "$TMP/threads" ] || build threads threads.c -lpthread
	rm -f "$TMP/count"
	"$TMP/threads" "$TMP/count" "$@" &
	pid=$!
	wait_for 20 test -s "$TMP/count"
}

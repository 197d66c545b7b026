# timeout: 150
# Files of other users are read by a process without privilege. It can be killed in the middle of a file: that file has no
# names, all others have. It ends with its tracer, and a tracer that waits for it can be interrupted.
# needs: root nobody bpf gcc
. ./lib.bash
export HOSTILE_NAME=readertest
for i in 1 2 3 4; do make_file plain $i.so function_$i; done

# until_true COMMAND...: wait for it; without it the rest makes no sense
until_true() { wait_for 20 "$@" || { tail -n 5 "$TMP/trace.out" "$TMP/trace.err"; exit 1; }; }
shows() { grep -q "$1.so\`$2" "$TMP/trace.out"; }
# The helper of the tracer, in $reader
find_reader() {
	reader=$(grep -l "^PPid:	$tracer\$" /proc/[0-9]*/status 2>/dev/null | xargs -r grep -l '^Name:	dtrace-read$' 2>/dev/null | grep -oE '[0-9]+')
	[ -n "$reader" ]
}
# Does the tracer wait for an answer? It polls one descriptor, and looks up every 97 ms. CPUs other than x86-64 have only ppoll(),
# which takes the time by reference; when the tracer has nothing to do, it polls more descriptors.
case $HOSTTYPE in x86_64) poll='^7 0x[0-9a-f]+ 0x1 0x61 ' ;; *) poll='^73 0x[0-9a-f]+ 0x1 0x[0-9a-f]+ 0x0 ' ;; esac
waits() { grep -qE "$poll" "/proc/$tracer/syscall"; }
# Whole stacks are printed: all that there is to read has been read.
settled() { shows 1 function_1 && grep -q 'hostile`_start' "$TMP/trace.out"; }
# Stop the helper; the next question will wait for it
stop_reader() {
	until_true find_reader
	kill -STOP "$reader"
	until_true grep -q '^State:	T' "/proc/$reader/status"
}
gone() { ! grep -qs "^State:	[^Z]" "/proc/$1/status"; }
handled() { grep -q "^ShdPnd:	0000000000000000" "/proc/$tracer/status"; }
begin() {
	: >"$TMP/trace.out" >"$TMP/trace.err"
	"$DTRACE" -qx switchrate=20ms -n 'syscall::getppid:entry /execname == "readertest"/ { ustack(); }' >"$TMP/trace.out" 2>"$TMP/trace.err" </dev/null &
	tracer=$!
	pids+=("$tracer")
}

# It has nothing but its socket.
begin
start run "$THEIRS/1.so"
until_true settled
until_true find_reader
first=$reader
status=$(cat "/proc/$reader/status")
user=$((0x80000000 + reader)) # no other process is this user
for line in "Uid:	$user	$user	$user	$user" 'Gid:	65534	65534	65534	65534' 'Groups:	 ' 'CapPrm:	0000000000000000' 'CapEff:	0000000000000000' \
	'NoNewPrivs:	1' 'Seccomp:	2'; do
	expect "$line" "$(grep "^${line%%:*}:" <<<"$status")" "of the reader"
done
expect "0 socket" "$(find "/proc/$reader/fd" -type l -printf '%f %l\n' | sed 's/:.*//')" "descriptors of the reader"
expect "" "$(grep -E '^[^ ]+ ..[^ ]s ' "/proc/$reader/maps")" "memory that the reader shares"
# Others cannot stop it, nor read its memory.
for signal in STOP KILL; do theirs bash -c "kill -$signal $reader" 2>/dev/null && { echo "nobody can send SIG$signal to the reader"; count_failure; }; done
theirs cat "/proc/$reader/maps" >/dev/null 2>&1 && { echo "nobody can look into the reader"; count_failure; }

# Killed in the middle of 2.so.
stop_reader
start run "$THEIRS/2.so"
until_true waits
kill -KILL "$reader"
start run "$THEIRS/3.so"
until_true shows 3 function_3
until_true shows 2 0x
until_true find_reader
[ "$reader" != "$first" ] || { echo "the reader was not replaced"; count_failure; }
until_true grep -q 'its reader died' "$TMP/trace.err" # the message follows the output
expect "dtrace: symbols of $THEIRS/2.so are not available: its reader died" "$(grep -v ' on CPU' "$TMP/trace.err")" # while it waited, records may be lost
shows 2 function_2 && { echo "2.so was read again"; count_failure; }

# It does not outlive its tracer.
kill -KILL "$tracer"
wait "$tracer" 2>/dev/null
until_true gone "$reader"

# Two interrupts end the tracer, though its reader hangs.
begin
until_true settled
stop_reader
start run "$THEIRS/4.so"
until_true waits
kill -TERM "$tracer"
until_true handled
sleep 0.4 # two within 150 ms are one
kill -TERM "$tracer"
until_true gone "$tracer"
until_true gone "$reader"
end_all

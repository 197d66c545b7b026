# timeout: 300
# -p: held for a moment, then released; the process is not affected.
# needs: gcc python3
. "$SRC/test/lib.bash"
start 6
at_end 'kill $pid 2>/dev/null'
[ "$(field $pid TracerPid)" = 0 ] || skip "another process traces our children"

# while programs are compiled it runs
spy "grep -h ^TracerPid /proc/$pid/task/*/status | sort -u >$TMP/held
cat $TMP/count >$TMP/before; n=0
while cmp -s $TMP/before $TMP/count && [ \$((n += 1)) -lt 1000 ]; do sleep 0.02; done
cat $TMP/count >$TMP/after"
spied -p $pid
expect 0 "$status" "$err"
expect "TracerPid:	0" "$(cat "$TMP/held")"
! cmp -s "$TMP/before" "$TMP/after" || { echo "it is held while programs are compiled"; fails=1; }
wait_for 20 running $pid
moves

# holding ARGS: dtrace, with $TMP/look run while it holds the process
holding() { HELD_DURING=$TMP/look LD_PRELOAD=$TMP/held.so dt -n 'BEGIN { exit(0); }' "$@"; }
looks() {
	printf '#!/bin/bash\nunset LD_PRELOAD\n%s\n' "$1" >"$TMP/look"
	chmod +x "$TMP/look"
}
if ! sanitized; then # such a build takes no LD_PRELOAD
	build held.so processes/held.c -shared -fPIC -ldl
	# held: every thread, by dtrace; it does nothing; afterwards it continues
	looks "grep -hE '^(State|TracerPid)' /proc/$pid/task/*/status | sort -u >$TMP/held
	echo \$HELD_PID >$TMP/tracer
	cat $TMP/count >$TMP/before; sleep 0.2; cat $TMP/count >$TMP/after"
	holding -p $pid
	expect 0 "$status" "$err"
	expect "State:	t (tracing stop)
TracerPid:	$(cat "$TMP/tracer")" "$(cat "$TMP/held")"
	cmp -s "$TMP/before" "$TMP/after" || { echo "it ran while it was held"; fails=1; }
	wait_for 20 running $pid
	moves
	# dtrace is killed while it holds the process
	looks 'kill -KILL $HELD_PID'
	holding -p $pid
	expect 137 "$status" "killed"
	wait_for 20 running $pid
	moves
	# the process is
	sleep 1000 &
	victim=$!
	looks "kill -KILL $victim"
	HELD_DURING=$TMP/look LD_PRELOAD=$TMP/held.so dt -n 'BEGIN { }' -p $victim
	expect "0 dtrace: pid $victim terminated by SIGKILL" "$status $(tail -n 1 "$TMP/err")"
	wait $victim
	expect 137 $?
fi

# released during tracing
: >"$TMP/out" # discard earlier output
"$DTRACE" -x engine=vm -p $pid -n 'BEGIN { printf("on"); }' >"$TMP/out" 2>"$TMP/err" &
tracer=$!
wait_for 20 grep -q on "$TMP/out"
wait_for 20 running $pid
moves
# killed while tracing, and before
kill -KILL $tracer
wait $tracer 2>/dev/null
running $pid || { echo "not running: $(every $pid State)"; fails=1; }
moves
spy 'kill -KILL $PPID'
spied -p $pid
expect 137 "$status" "killed"
wait_for 20 running $pid
moves
# and a command of -c that has not started ends with it
spy "cat /proc/\$PPID/task/\$PPID/children >$TMP/children; kill -KILL \$PPID"
spied -c "touch $TMP/never"
gone() { for c in $(cat "$TMP/children"); do [ ! -e "/proc/$c" ] || [ "$(field "$c" State)" = Z ] || return 1; done; }
wait_for 20 gone
[ ! -e "$TMP/never" ] || { echo "the command ran"; fails=1; }

# stopped before: stopped again afterwards, and not ended
stopped() { [ "$(every $pid State)" = T ]; }
kill -STOP $pid
wait_for 20 stopped
spy ''
spied -p $pid
expect 0 "$status" "$err"
wait_for 20 stopped
kill -CONT $pid
wait_for 20 running $pid
moves

# under another tracer: traced nevertheless, with a notice
python3 - $pid <<'PY' &
import ctypes, signal, sys, time
ctypes.CDLL(None).ptrace(0x4206, int(sys.argv[1]), 0, 0) # PTRACE_SEIZE, without stopping it
time.sleep(1000)
PY
other=$!
is_traced() { [ "$(field $pid TracerPid)" = $other ]; }
wait_for 20 is_traced
"$DTRACE" -x engine=vm -p $pid -qn 'BEGIN { trace("other"); exit(0); }' >"$TMP/other" 2>&1
"$DTRACE" -x engine=vm -p $pid -n 'BEGIN { exit(0); }' >/dev/null 2>"$TMP/other.err"
kill $other
wait $other 2>/dev/null
expect other "$(grep . "$TMP/other")"
expect "dtrace: pid $pid is traced by pid $other: it is not stopped while probes are made" "$(head -n 1 "$TMP/other.err")"

# in an uninterruptible sleep: released as soon as it wakes up, by dtrace or by its end
build vfork processes/vfork.c
asleep() { [ "$(field $sleeper State)" = D ]; }
for death in no yes; do
	"$TMP/vfork" "$TMP/wake" &
	sleeper=$!
	wait_for 20 asleep
	: >"$TMP/out" # discard earlier output
	"$DTRACE" -x engine=vm -p $sleeper -n 'BEGIN { printf("on"); }' >"$TMP/out" 2>"$TMP/err" &
	tracer=$!
	wait_for 20 grep -q on "$TMP/out"
	[ $death = no ] || kill -KILL $tracer
	touch "$TMP/wake"
	wait $sleeper
	expect 4 $? "asleep, dtrace dies: $death"
	wait $tracer 2>/dev/null
	rm "$TMP/wake"
done

# one that dies meanwhile: reported, and how if the kernel still knows; its parent can wait for it
sleep 1000 &
victim=$!
spy "kill -KILL $victim"
echo 'BEGIN { }' >"$TMP/spy.d"
spied -p $victim
expect_match "^0 dtrace: pid $victim (terminated by SIGKILL|has exited)\$" "$status $(tail -n 1 "$TMP/err")"
wait $victim
expect 137 $?
spy 'kill -KILL $(cat /proc/$PPID/task/$PPID/children | tr " " "\n" | grep -vx $$)'
echo 'BEGIN { }' >"$TMP/spy.d"
spied -c 'sleep 1000'
expect 0 "$status"
expect_match '^dtrace: pid [0-9]+ terminated by SIGKILL$' "$err"
spied -c 'sleep 1000' -x evaltime=main
expect_match '^dtrace: .*pid [0-9]+ terminated by SIGKILL( before .*)?$' "$err"

# the same pid twice counts once; several end with the last
mv "$TMP/count" "$TMP/count1"
one=$pid
start 1
: >"$TMP/out" # discard earlier output
"$DTRACE" -x engine=vm -p $one -p $pid -p $one -n 'BEGIN { printf("%d", $target); }' >"$TMP/out" 2>"$TMP/err" &
tracer=$!
wait_for 20 grep -q "$one" "$TMP/out"
kill -USR1 $pid
ended() { grep -q "$@" "$TMP/err"; }
wait_for 20 ended "pid $pid"
kill -0 $tracer || { echo "ended too early"; fails=1; }
kill -KILL $one
wait $tracer
expect 0 $? "several"
wait 2>/dev/null
# how they ended is reported if the kernel still knows
expect "2" "$(grep -cE "^dtrace: pid ($pid (has exited|exited with status 7)|$one (has exited|terminated by SIGKILL))\$" "$TMP/err")"

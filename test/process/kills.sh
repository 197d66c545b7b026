# The process engine: dtrace is killed at any moment while it gets in or traces the target, or the target is killed at any moment; the target of a
# killed dtrace goes on, with its own code. KILLS=500 for a long run.
# needs: gcc python3
# timeout: 3600
. "$SRC/test/lib.bash"
build victim process/victim.c -static -lpthread # other tests have uprobes in all processes: in their libraries
kills=${KILLS:-$(scale 8)}
program='pid$target:a.out:work:entry { @ = count(); } pid$target:a.out:*alloc*:entry,pid$target:a.out:*time*:entry { @a = count(); }'
RANDOM=1
at_random() { sleep "0.$(printf %03d $((RANDOM % 400)))"; }
inside() { grep -q 'memfd:dtrace' "/proc/$pid/maps" && grep -qx 'TracerPid:	0' "/proc/$pid/status"; }
alone() { # nobody traces the process any more, and it has nothing of us
	! grep -q 'memfd:dtrace' "/proc/$pid/maps" && grep -qx 'TracerPid:	0' "/proc/$pid/status"
}

# dtrace
"$TMP/victim" -t 3 -w "$TMP/stop" >"$TMP/victim.out" &
pid=$!
at_end 'kill $pid 2>/dev/null'
started() { [ "$(ls /proc/$pid/task | wc -l)" = 3 ]; }
wait_for 5 started
for i in $(seq "$kills"); do
	"$DTRACE" -x engine=process -qn "$program" -p "$pid" >"$TMP/out" 2>&1 </dev/null &
	tracer=$!
	[ $((i % 2)) = 0 ] || wait_for 20 inside # else while it gets in
	at_random
	kill -9 $tracer
	wait $tracer 2>/dev/null
	wait_for 10 alone
done
expect "" "$(python3 "$SRC/test/process/text.py" "$pid")" "after $kills kills"
touch "$TMP/stop"
wait $pid
expect 0 $? "the target of a killed dtrace"
expect_match '^calls [0-9]+$' "$(cat "$TMP/victim.out")"

# the target
for i in $(seq "$kills"); do
	"$TMP/victim" -t 2 -w "$TMP/never" >/dev/null &
	pid=$!
	"$DTRACE" -x engine=process -qn "$program" -p "$pid" >"$TMP/out" 2>"$TMP/err" </dev/null &
	tracer=$!
	at_random
	kill -9 $pid
	wait $pid 2>/dev/null
	wait $tracer
	expect 1 "$(($? < 2))" "dtrace of a killed target: $(cat "$TMP/err")"
done

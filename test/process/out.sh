# The process engine leaves nothing behind: not one changed byte, no memory; also when dtrace is killed.
# needs: gcc python3
# timeout: 300
. "$SRC/test/lib.bash"
build victim process/victim.c -lpthread
own_libraries "$TMP/victim"
check() { expect "" "$(python3 "$SRC/test/process/text.py" "$pid")" "$1"; }
patched() { [ -n "$(python3 "$SRC/test/process/text.py" "$pid" | grep 'in the file')" ]; }
restored() { [ -z "$(python3 "$SRC/test/process/text.py" "$pid")" ]; }
LD_LIBRARY_PATH="$TMP/lib" "$TMP/victim" -t 3 -w "$TMP/stop" >"$TMP/victim.out" &
pid=$!
at_end 'kill $pid 2>/dev/null'
started() { [ "$(ls /proc/$1/task | wc -l)" = $2 ]; } # it is no longer a copy of this shell
wait_for 5 started $pid 3
check "before"

# on and off while all threads run
for i in $(seq "$(scale 8)"); do
	"$DTRACE" -x engine=process -qn 'pid$target:a.out:work:entry /++n == 100/ { exit(0); } pid$target:libc.so.6::entry { @ = count(); }' -p "$pid" \
		>"$TMP/out" 2>"$TMP/err" </dev/null
	expect 0 $? "$(cat "$TMP/err")"
	check "after $i"
done

# dtrace is killed: before it is in, and after (in between: die.sh)
inside() { grep -q 'memfd:dtrace' "/proc/$pid/maps" && grep -qx 'TracerPid:	0' "/proc/$pid/status"; }
for moment in true inside patched; do
	"$DTRACE" -x engine=process -qn 'pid$target:a.out:work:entry { @ = count(); } pid$target:libc.so.6::entry { @ = count(); }' -p "$pid" >"$TMP/out" 2>&1 </dev/null &
	tracer=$!
	wait_for 10 $moment
	kill -9 $tracer
	wait $tracer 2>/dev/null
	wait_for 10 restored
done
expect "" "$(ps -o pid= -C dtrace-keeper | xargs -rn1 sh -c 'grep -l "$0" /proc/$1/maps 2>/dev/null' "$TMP")" "keepers"

# the target is killed
LD_LIBRARY_PATH="$TMP/lib" "$TMP/victim" -t 2 -w "$TMP/stop" >/dev/null &
other=$!
wait_for 5 started $other 2
"$DTRACE" -x engine=process -n 'pid$target:a.out:work:entry { @ = count(); }' -p "$other" >"$TMP/out" 2>"$TMP/err" </dev/null &
tracer=$!
pid=$other wait_for 10 patched
kill -9 $other
wait $tracer
expect 0 $? "$(cat "$TMP/err")"
expect_match "dtrace: pid $other terminated by SIGKILL" "$(cat "$TMP/err")"

touch "$TMP/stop"
wait $pid
expect 0 $?
expect_match '^calls [0-9]+$' "$(cat "$TMP/victim.out")"

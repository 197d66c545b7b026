# END's record has room, however fast the others come: nothing fires any more when the buffers are read for the last time before it.
# needs: root bpf gcc python3
. "$SRC/test/lib.bash"
build work engine/work.c -lpthread
"$TMP/work" 1000000000 2 &
load=$!
at_end "kill $load"
# The reader is slow: while dtrace waits for it, a buffer could fill up again.
mkfifo "$TMP/pipe"
/usr/bin/python3 -c '
import os, time
while data := os.read(0, 4096):
    os.write(1, data)
    time.sleep(0.005)' <"$TMP/pipe" >"$TMP/out" &
reader=$!
"$DTRACE" -b 64k -qn 'BEGIN { printf("ready\n"); }
	syscall::getppid:entry /pid == $1/ { printf("%d\n", timestamp); } END { printf("the end\n"); }' $load >"$TMP/pipe" 2>"$TMP/err" </dev/null &
tracer=$!
wait_for 20 eval '[ "0$(grep -c "^[0-9]" "$TMP/out" 2>/dev/null)" -gt 1000 ]'
kill -TERM $tracer
wait $tracer
wait $reader
expect "the end" "$(grep . "$TMP/out" | tail -n 1)" "$(cat "$TMP/err")"

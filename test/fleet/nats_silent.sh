# A NATS server that takes connections and says nothing holds nobody up: machines on sockets are found, and their lines are printed in
# time. The front tries the server all the time, which takes 3 seconds each.
# needs: root bpf gcc python3 libnats
# timeout: 120
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
: >"$TMP/port"
python3 -c 'import socket
s, kept = socket.socket(), []
s.bind(("127.0.0.1", 0))
s.listen(64)
print(s.getsockname()[1], flush=True)
while True:
    kept.append(s.accept())' >"$TMP/port" &
at_end "kill $! 2>/dev/null"
agent web-1
wait_for 20 test -s "$TMP/port"
# How late are 800 lines, of 8 seconds? If the front waited for the server, half of them were late by more than a second.
timeout -s INT 100 "$DTRACE" -E -x targets="$TMP/t/web-1.sock,nats://127.0.0.1:$(cat "$TMP/port")" -qn 'web-1:profile:::tick-10ms
	/n++ < 800/ { printf("%d\n", timestamp); } web-1:profile:::tick-10ms /n > 800/ { exit(0); }' 2>"$TMP/err" | python3 -c '
import os, time
late, text = [], b""
while more := os.read(0, 65536):
    *whole, text = (text + more).split(b"\n")
    late += [(time.monotonic_ns() - int(line)) // 1000000 for line in whole if line]
half = sorted(late)[len(late) // 2] if late else 0
print(len(late), "in time" if half < 1000 else f"half of them late by {half} ms")' >"$TMP/out"
expect "800 in time" "$(cat "$TMP/out")"
expect_match 'cannot connect to nats://127.0.0.1:[0-9]*: Timeout' "$(cat "$TMP/err")"
expect 1 "$(wc -l <"$TMP/err")" "messages"

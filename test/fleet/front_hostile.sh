# A front that asks and does not read, sends programs without end, or speaks byte by byte, costs its agent a bounded amount of
# memory, and other fronts nothing. A user who may come has room for some fronts, and leaves it for others.
# needs: root bpf gcc python3 nobody
# timeout: 300
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
printf 'user=0\nuser=nobody providers=syscall\n' >"$TMP/policy"
agent web-1 -p "$TMP/policy"
chmod 777 "$TMP" "$TMP/t" "$TMP/t/web-1.sock"
cat >"$TMP/front.py" <<'E2'
"""front.py SOCKET WHAT: a front that does not keep to the rules. Prints "there" when it has done what it does, and waits."""
import os, select, socket, struct, sys, time
def text(s):
    return struct.pack("<I", len(s)) + s.encode() + b"\0"
def frame(kind, seq, body):
    return struct.pack("<IIII", 0x31465444, kind, len(body), seq) + body
HELLO = frame(1, 0, struct.pack("<IQ", 6, 5) + text("x") * 3 + struct.pack("<IQQI", 1, 2, 3, 0))
def connect():
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    return s
def send(s, frames):
    """As much as the agent takes: it has stopped reading if nothing goes within two seconds."""
    s.setblocking(False)
    data = b"".join(frames)
    while data and select.select([], [s], [], 2)[1]:
        data = data[s.send(data[:1 << 20]):]
    return len(data)
def program(n):
    body = b"web-1:syscall::close:entry /pid == 0/ { x = %d; }" % n
    return frame(3, 1 + n, struct.pack("<III", n, 1, 0) + text("p") + struct.pack("<Q", len(body)) + body + struct.pack("<II", 0, 0))
what, kept = sys.argv[2], []
if what == "lists":
    s = connect()
    left = send(s, [HELLO] + [frame(22, 1 + i, text("") + text("") + struct.pack("<I", 0)) for i in range(400000)])
    print("the agent has stopped reading" if left else "the agent reads everything")
elif what == "pings":
    s = connect()
    left = send(s, [HELLO] + [frame(12, 1 + i, struct.pack("<Q", i)) for i in range(2000000)])
    print("the agent has stopped reading" if left else "the agent reads everything")
elif what == "programs":
    s = connect()
    s.sendall(HELLO + b"".join(program(i) for i in range(300)))
    said = b""
    while more := s.recv(65536):
        said += more
    print("refused" if b"there are more programs than it takes" in said else said[-200:])
elif what == "large": # some 35 MB each
    s = connect()
    s.sendall(HELLO)
    for n in range(100):
        body = b"inline int a%d_0 = pid;\n" % n + b"".join(b"inline int a%d_%d = a%d_%d + a%d_%d;\n" % (n, i, n, i - 1, n, i - 1) for i in range(1, 15)) + \
               b"web-1:syscall::close:entry { trace(a%d_14); }" % n
        try:
            s.sendall(frame(3, 1 + n, struct.pack("<III", n, 0, 0) + text("p") + struct.pack("<Q", len(body)) + body + struct.pack("<II", 0, 0)))
        except OSError: # it has refused one of them; why is still to be read
            break
    said = b""
    while more := s.recv(65536):
        said += more
    print("refused" if b"the programs take more memory than it has for them" in said else said[-200:])
elif what == "slowly":
    s = connect()
    for i in range(40):
        s.sendall(HELLO[i:i + 1])
        time.sleep(0.01)
    while s.recv(65536): # it ends the connection
        pass
elif what == "many":
    for _ in range(int(sys.argv[3])):
        s = connect()
        try:
            s.sendall(HELLO)
            s.settimeout(60)
            if s.recv(16):
                kept.append(s)
        except OSError: # refused
            pass
    print(len(kept))
print("there", flush=True)
if what not in ("programs", "large", "slowly"):
    time.sleep(1000)
E2
hostile() { # WHAT, as USER
	: >"$TMP/said"
	# shellcheck disable=SC2086
	${user:+setpriv --reuid=$user --clear-groups} /usr/bin/python3 "$TMP/front.py" "$TMP/t/web-1.sock" "$@" </dev/null >"$TMP/said" 2>&1 &
	hostile=$!
	at_end "kill $hostile 2>/dev/null"
	wait_for 100 grep -q there "$TMP/said"
}
gone() {
	kill $hostile 2>/dev/null
	wait $hostile 2>/dev/null
}
is_exact() {
	fleet -qn "web-1:syscall::close:entry /$mine/ { @ = count(); }" -c "$(load 100)"
	expect 100 "$(last_fields)" "beside a front that sends $what"
}
mb_of() { awk '/^VmHWM/ { print int($2 / 1024) }' "/proc/$1/status"; }
for what in lists pings; do
	hostile $what
	expect "the agent has stopped reading" "$(head -1 "$TMP/said")" "$what"
	for p in $(serving web-1); do
		sanitized || [ "$(mb_of "$p")" -le 150 ] || { echo "$what: the agent had $(mb_of "$p") MB"; count_failure; }
	done
	is_exact
	gone
	nobody_left() { [ -z "$(serving web-1)" ]; }
	wait_for 20 nobody_left
done
for what in programs large; do
	hostile $what
	expect refused "$(head -1 "$TMP/said")" "$what"
	is_exact
	gone
done
what=slowly # it has 10 seconds for its first word
hostile $what
is_exact
gone

# 16 fronts of one user; others have room.
what=many
user=nobody hostile many 500
expect 16 "$(head -1 "$TMP/said")" "fronts of nobody"
expect_match 'user [0-9]+ has 16 fronts, and there is no room for another: refused' "$(cat "$TMP/web-1.err")"
[ "$(grep -c refused "$TMP/web-1.err")" -le $((21 + SECONDS)) ] || { echo "$(grep -c refused "$TMP/web-1.err") messages about fronts that were refused"; count_failure; }
is_exact
gone
wait_for 20 nobody_left
user=nobody hostile many 3
expect 3 "$(head -1 "$TMP/said")" "fronts of nobody, after the others have gone"
gone
wait_for 20 nobody_left

# 64 of all users.
hostile many 70
expect 64 "$(head -1 "$TMP/said")" "fronts of root"
gone
wait_for 20 nobody_left
is_exact

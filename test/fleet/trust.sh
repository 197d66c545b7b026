# A machine that sends garbage, another version, or lies costs itself only: the others are exact, and the user is told.
# needs: root bpf gcc python3
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
agent web-1
peer() { # WHAT
	python3 "$SRC/test/fleet/peer.py" "$TMP/t/peer.sock" "$1" &
	peer=$!
	wait_for 10 test -S "$TMP/t/peer.sock"
}
gone() { kill $peer; wait $peer 2>/dev/null; rm -f "$TMP/t/peer.sock"; }
while read -r what message; do
	peer "$what"
	wait=100s
	case $what in silent | nonce) wait=1s ;; esac
	fleet -qn "web-*:syscall::close:entry /$mine/ { @ = count(); }" -c "$(load 100)"
	[ $wait = 1s ] || expect 100 "$(last_fields)" "beside a machine that sends $what"
	expect_match "$message" "$err"
	expect 0 "$(grep -c $'\033' <<<"$err")" "control characters of $what"
	gone
done <<'E2'
garbage what it sends is not this protocol
silent peer.sock: it does not answer: there may be no agent
version it speaks version 5 of the protocol, this dtrace speaks version 4
nonce peer.sock: it does not answer: there may be no agent
host it has no name of its own
escape a frame has an unknown type
deaf liar: a frame has an unknown type
type liar: a frame has an unknown type
gap liar: frames are missing
long liar: a frame is too long
record liar: its connection was closed
exit liar: its connection was closed
bye liar: its connection was closed
cut liar: its connection was closed
E2

# An agent that is sent garbage goes on serving others.
python3 - "$TMP/t/web-1.sock" <<'E2'
import os, socket, struct, sys
def send(data):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    try:
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
        while s.recv(65536):
            pass
    except OSError:
        pass
    s.close()
hello = struct.pack("<IQ", 4, 5) + b"".join(struct.pack("<I", 1) + b"x\0" for _ in range(3)) + struct.pack("<IQQI", 1, 2, 3, 0)
def frame(kind, seq, body):
    return struct.pack("<IIII", 0x31465444, kind, len(body), seq) + body
send(b"")
send(os.urandom(100000))
send(os.urandom(3 << 20))
send(frame(1, 0, hello) + os.urandom(5000))
send(frame(1, 0, hello) * 3)
for kind in range(1, 40):
    send(frame(1, 0, hello) + frame(kind, 1, b""))
    send(frame(1, 0, hello) + frame(kind, 1, os.urandom(200)))
send(frame(1, 0, hello)[:40])
E2
fleet -qn "web-*:syscall::close:entry /$mine/ { @ = count(); }" -c "$(load 100)"
expect 100 "$(last_fields)" "after garbage at the agent"

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
version it speaks version 7 of the protocol, this dtrace speaks version 6
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

# Names and texts of a machine that a terminal would obey: nothing of it is left, in messages also if only they go to a terminal.
peer escapes
obeyed() { LC_ALL=C grep -caP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$@"; }
wait=3s
while read -r pattern args; do
	# shellcheck disable=SC2086
	timeout 100 "$DTRACE" -x targetwait=3s $args >"$TMP/out" 2>"$TMP/err" </dev/null
	expect_match "$pattern" "$(cat "$TMP/out" "$TMP/err")"
	[[ $args != *" s" ]] || : >"$TMP/out" # it is what the session has printed, and goes to a file
	expect 0 "$(cat "$TMP/out" "$TMP/err" | obeyed)" "control characters: $args"
done <<'E2'
^li[^r]*ar +Linux -M
^li[^r]*ar +7 +[^a-z]+p -E -ln li*:p:m:f:n
why -E -ln li*:p:m:f:n
state -E --attach
note.a -E --attach s
a.note -E -qn *:syscall::close:entry{exit(0);}
E2
cat >"$TMP/terminal.py" <<'E2'
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))
E2
for format in text ndjson; do # a terminal makes \r\n of \n, and dtrace knows that it is one
	NO_COLOR=1 timeout 100 python3 "$TMP/terminal.py" "$DTRACE" -x targetwait=3s -O $format -E --attach s >"$TMP/out" 2>"$TMP/err" </dev/null
	expect_match 'note' "$(tr -d '\r' <"$TMP/out")"
	expect 0 "$(tr -d '\r' <"$TMP/out" | obeyed)" "control characters on a terminal: $format"
done
gone

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
hello = struct.pack("<IQ", 6, 5) + b"".join(struct.pack("<I", 1) + b"x\0" for _ in range(3)) + struct.pack("<IQQI", 1, 2, 3, 0)
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
# A front of another version gets the agent's own version, and the connection ends.
said=$(python3 - "$TMP/t/web-1.sock" <<'E2'
import socket, struct, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(100)
s.connect(sys.argv[1])
s.sendall(struct.pack("<IIIIIQ", 0x31465444, 1, 12, 0, 99, 7)) # of another version only the number and the nonce are known
said = b""
while more := s.recv(4096):
    said += more
print(*struct.unpack_from("<IIIIIQ", said)[1::3], struct.unpack_from("<Q", said, 20)[0])
E2
)
expect "1 6 7" "$said" "type, version and nonce of the answer"
wait_for 20 grep -q 'the front speaks version 99 of the protocol' "$TMP/web-1.err"
fleet -qn "web-*:syscall::close:entry /$mine/ { @ = count(); }" -c "$(load 100)"
expect 100 "$(last_fields)" "after garbage at the agent"

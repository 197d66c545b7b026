# needs: root bpf python3 microhttpd
# timeout: 200
# --serve while much is traced: readers that stop reading, and that go away, cost the trace nothing; it ends at once. Nor
# do frames wait for names.
. "$SRC/test/lib.bash"
cat >"$TMP/test.d" <<'D'
tick-1000hz { @n = count(); printf("%-2000d\n", 1); }
tick-1000hz /i++ == 3000/ { exit(0); }
END { printf("end\n"); }
D
PYTHONPATH=$SRC/test/output python3 - "$DTRACE" "$TMP" <<'PY'
import json, os, signal, socket, sys, time
from serving import Serving, expect
dtrace, tmp = sys.argv[1:]
run = [dtrace, "-x", "engine=bpf", "-q", "-x", "aggrate=200ms", "-x", "switchrate=50ms", "-o", tmp + "/out", "-s", tmp + "/test.d"]

def stuck(s, name):
    """A reader that reads nothing."""
    c = socket.socket()
    c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    c.connect((s.host, s.port))
    c.sendall(b"GET %s%s HTTP/1.1\r\nHost: x\r\n\r\n" % (s.base.encode(), name))
    return c

with Serving(run) as s:
    slow = [stuck(s, b"stream") for i in range(3)] + [stuck(s, b"events") for i in range(3)]
    for i in range(20): # and some that leave
        stuck(s, b"stream").close()
    quick = s.stream("stream")
    frames = 0
    while True:
        line = quick.line()
        frames += line == "event: frame"
        if line.startswith('data: {"type":"end"'):
            expect(3001, json.loads(line[6:])["records"] - 1, "records")
            break
        if not line and quick.response.isclosed():
            sys.exit("no end")
    expect(0, s.p.wait(100), "status")
    expect(True, frames >= 2, "frames")
    expect(False, "drop" in s.said(), "drops: " + s.said())
lines = open(tmp + "/out").read().split("\n")
expect(3001, sum(l.startswith("1 ") for l in lines), "lines of output")
expect("3001", lines[-2].strip(), "count")

# one signal, with readers that are stuck
os.remove(tmp + "/out")
open(tmp + "/test.d", "w").write('tick-1000hz { printf("%-2000d\\n", 1); } END { printf("end\\n"); }')
with Serving(run) as s:
    slow = [stuck(s, b"stream") for i in range(3)] + [stuck(s, b"events") for i in range(3)]
    quick = s.stream("events")
    for i in range(500):
        quick.line()
    s.p.send_signal(signal.SIGTERM)
    expect(0, s.p.wait(100), "status")
expect("end", open(tmp + "/out").read().split()[-1], "the last line")

# a frame does not wait for names of addresses: a new stack is missing in it, and in one of the next
run = [dtrace, "-x", "engine=bpf", "-q", "-x", "aggrate=200ms", "-n", "BEGIN { @n = count(); } syscall::getppid:entry /pid == $1/ { @s[ustack()] = count(); }", str(os.getpid())]
with Serving(run) as s:
    quick = s.stream("stream")
    expect(["n"], [a["name"] for a in json.loads(quick.until("frame"))["aggs"]], "before")
    os.getppid()
    frames = []
    while not frames or not frames[-1]["rows"]:
        frames += [a for a in json.loads(quick.until("frame"))["aggs"] if a["name"] == "s"]
    expect([1, []], [frames[0]["n"], frames[0]["rows"]], "the first frame with the stack")
    expect([1, 1], [frames[-1]["n"], len(frames[-1]["rows"])], "the last")
    expect(True, "getppid" in frames[-1]["rows"][0][0][0], "its name: " + str(frames[-1]["rows"]))
PY
expect 0 $? "the server"

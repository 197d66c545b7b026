# needs: python3 microhttpd gcc
# uses: mountns root
# timeout: 120
# --serve over HTTP: the token, each address, limits, hostile keys, addresses that cannot be used, and the end.
. "$SRC/test/lib.bash"
. "$SRC/test/needs.bash"

# ---- addresses ----
for bad in nowhere:80 127.0.0.1:99999 127.0.0.1: 1.2.3:80 [::1:80 -1 127.0.0.1:8o; do
	dt -q --serve="$bad" -n 'BEGIN { trace("traced"); exit(0); }'
	expect "dtrace: --serve $bad: " "${err%%: [nt]*}: " "a bad address"
	expect "1 " "$status $out" "$bad"
done
dt --top --serve -n BEGIN
expect "dtrace: --top and --serve exclude each other" "${err%%$'\n'*}"
expect 2 "$status"

# Its name, without the library; nothing is traced then.
if ! lacks mountns >/dev/null; then
	library=$(/usr/bin/python3 -c 'import ctypes, re; ctypes.CDLL("libmicrohttpd.so.12"); print(re.search(r"\S*libmicrohttpd\S*", open("/proc/self/maps").read())[0])')
	expect_match "^dtrace: --serve needs the library libmicrohttpd.so.12 \(Debian: libmicrohttpd12\): " \
		"$(unshare -m sh -c 'mount --bind /dev/null "$1" && exec "$2" -q --serve -n "BEGIN { trace(1); exit(0); }"' - "$library" "$DTRACE" 2>&1)"
fi

# What cmd/microhttpd.h says of the library is what its own header says.
cat >"$TMP/same.c" <<'C'
#include <microhttpd.h>
#include "microhttpd.h"
#define SAME(a, b) _Static_assert((long long)(a) == (long long)(b), #b)
SAME(HTTP_YES, MHD_YES); SAME(HTTP_USE_EPOLL, MHD_USE_EPOLL); SAME(HTTP_ALLOW_SUSPEND, MHD_ALLOW_SUSPEND_RESUME);
SAME(HTTP_OPTION_END, MHD_OPTION_END); SAME(HTTP_OPTION_CONNECTION_MEMORY, MHD_OPTION_CONNECTION_MEMORY_LIMIT);
SAME(HTTP_OPTION_CONNECTION_LIMIT, MHD_OPTION_CONNECTION_LIMIT); SAME(HTTP_OPTION_CONNECTION_TIMEOUT, MHD_OPTION_CONNECTION_TIMEOUT);
SAME(HTTP_OPTION_LISTEN_SOCKET, MHD_OPTION_LISTEN_SOCKET); SAME(HTTP_INFO_EPOLL_FD, MHD_DAEMON_INFO_EPOLL_FD);
SAME(HTTP_COPY, MHD_RESPMEM_MUST_COPY); SAME(HTTP_END, MHD_CONTENT_READER_END_OF_STREAM); SAME(HTTP_UNKNOWN_SIZE, MHD_SIZE_UNKNOWN);
_Static_assert(sizeof(enum MHD_Result) == sizeof(int) && sizeof(enum MHD_FLAG) == sizeof(unsigned), "enums");
static MHD_AccessHandlerCallback handler = (MHD_AccessHandlerCallback)(http_handler *)0; /* its result is an enum */
static MHD_ContentReaderCallback reader = (http_reader *)0;
static MHD_ContentReaderFreeCallback end = (http_free *)0;
int main(void) { return handler || reader || end; }
C
gcc -Wall -Werror -iquote "$SRC/cmd" -o "$TMP/same" "$TMP/same.c" || count_failure

# ---- while it runs ----
cat >"$TMP/test.d" <<'D'
BEGIN {
	@calls["apple", 1] = sum(1000); @calls["<img src=x onerror=alert(1)>", 2] = sum(250); @calls["fig\033[2J\n\"\\", 3] = sum(1);
	@time[probename] = quantize(1); @time[probename] = quantize(9); @time[probename] = quantize(9);
	@mean = avg(4); @mean = avg(6);
	printf("<b>bold</b>\n");
}
BEGIN { trace(*(int *)8); }
END { printf("ended\n"); }
D
"$DTRACE" -x engine=vm -q -O prometheus -o "$TMP/metrics" -s "$TMP/test.d" -n 'BEGIN { exit(0); }' 2>/dev/null
"$DTRACE" -x engine=vm -q -O folded -o "$TMP/folded" -s "$TMP/test.d" -n 'BEGIN { exit(0); }' 2>/dev/null
"$DTRACE" -x engine=vm -q -o "$TMP/plain" -s "$TMP/test.d" -n 'BEGIN { exit(0); }' 2>/dev/null
PYTHONPATH=$SRC/test/output python3 - "$DTRACE" "$TMP" <<'PY'
import http.client, json, os, signal, socket, subprocess, sys
from serving import Serving, expect
dtrace, tmp = sys.argv[1:]
read = lambda name: open(tmp + "/" + name, "rb").read()
run = [dtrace, "-x", "engine=vm", "-q", "-o", tmp + "/out", "-s", tmp + "/test.d"]

with Serving(run) as s:
    # who may look
    token = s.base.strip("/")
    expect(True, len(token) == 32 and set(token) <= set("0123456789abcdef"), "a token")
    for path in ("/", "/stream", "/metrics", "/" + token[:-1] + "/", "/" + token, "/" + "0" * 32 + "/", "/" + token.upper() + "x/", "//" + token + "/"):
        expect(403, s.get(path)[0], path)
    for name in ("nosuch", "../../etc/passwd", "..%2f..%2fetc%2fpasswd", "cmd/page/live.html", "live.html/"):
        expect(404, s.get(s.base + name)[0], name)
    expect(405, s.get(s.base, "POST", "a=b" * 10000)[0], "POST")
    expect((200, b""), s.get(s.base, "HEAD")[:2], "HEAD")
    expect(True, s.port > 0 and s.host == "127.0.0.1", "loopback")
    # the page: no file from elsewhere, no script in it
    status, page, headers = s.get(s.base)
    expect(200, status, "the page")
    expect("no-store", headers["Cache-Control"], "not kept by a browser")
    expect(True, headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self';"), "policy")
    for name, kind in (("live.js", "text/javascript"), ("charts.js", "text/javascript"), ("flamegraph.js", "text/javascript"), ("live.css", "text/css"), ("flamegraph.css", "text/css")):
        status, text, headers = s.get(s.base + name)
        expect((200, kind + "; charset=utf-8", "nosniff"), (status, headers["Content-Type"], headers["X-Content-Type-Options"]), name)
        expect(False, b"innerHTML" in text or b"http://" in text.replace(b"http://www.w3.org/2000/svg", b""), name + " makes no markup")
    # documents
    expect(read("metrics"), s.get(s.base + "metrics")[1], "metrics")
    expect(read("folded"), s.get(s.base + "stacks.folded")[1], "folded")
    expect(True, b"<title>Flame graph</title>" in s.get(s.base + "flamegraph.html")[1], "flame graph")
    lines = [json.loads(l) for l in s.get(s.base + "trace.ndjson")[1].decode().splitlines()]
    expect(["start", "record", "fault"] + 5 * ["aggregation"], [l["type"] for l in lines], "ndjson")
    # the streams
    stream = s.stream("stream")
    frame = json.loads(stream.until("frame"))
    expect([1, 0, None], [frame["faults"], frame["drops"], frame["drop"]], "losses")
    calls, time, mean = frame["aggs"]
    expect([[["fig\x1b[2J\n\"\\", "3"], 1], [["<img src=x onerror=alert(1)>", "2"], 250], [["apple", "1"], 1000]], calls["rows"], "rows")
    expect([[["BEGIN"], 3, [[1, 1, 1], [8, 15, 2]]]], time["rows"], "buckets")
    expect([[[], 5, None, 2]], mean["rows"], "avg")
    # who comes later gets the points of the charts since then
    times = [frame["time"]] + [json.loads(stream.until("frame"))["time"] for i in range(3)]
    late = s.stream("stream")
    past, frame = json.loads(late.until("past")), json.loads(late.until("frame"))
    expect([[a["id"], a["name"], a["function"], a["n"]] for a in frame["aggs"]], [[a["id"], a["name"], a["function"], a["n"]] for a in past], "what has been")
    for a in past:
        expect(times, [p[0] for p in a["points"] if p[0] in times], "points of @" + a["name"])
        expect(frame["time"], a["points"][-1][0], "the last of @" + a["name"])
    expect([[0, ["fig\x1b[2J\n\"\\", "3"]], [1, ["<img src=x onerror=alert(1)>", "2"]], [2, ["apple", "1"]]], past[0]["rows"], "their rows")
    expect([[], [[0, 0], [1, 0], [2, 0]], []], [p[2] for p in past[0]["points"]][:3], "their rates")
    late.response.close()
    events = s.stream("events")
    expect("start", json.loads(events.line())["type"], "the first event")
    expect("<b>bold</b>\n", json.loads(events.line())["output"][0]["text"], "a record")
    # too many of them; everything else is still there
    more = [s.stream("stream") for i in range(14)]
    expect((503, b"too many are watching already; close a page\n"), s.get(s.base + "stream")[:2], "one too many")
    expect(200, s.get(s.base + "metrics")[0], "others")
    # rubbish
    for rubbish in (b"\0" * 1000, b"GET " + b"x" * 100000, b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 10000):
        c = socket.create_connection((s.host, s.port))
        try:
            c.sendall(rubbish)
            c.close()
        except OSError:
            pass
    expect(200, s.get(s.base + "metrics")[0], "after rubbish")
    # the port is in use
    other = subprocess.run(run + ["--serve", "127.0.0.1:%d" % s.port], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    expect((1, "dtrace: --serve: cannot listen on 127.0.0.1:%d: Address already in use\n" % s.port), (other.returncode, other.stderr), "port in use")
    # the end: those who read see it; the output is what it would have been
    s.p.send_signal(signal.SIGTERM)
    rest = events.rest().decode().splitlines()
    expect("end", json.loads(rest[-1])["type"], "the last event")
    expect(0, s.p.wait(60), "status")
plain = read("plain")
expect(plain.replace(b"ended\n", b"\nended\n"), read("out"), "the output")

# an address of its own, and IPv6
with Serving(run, "127.0.0.2:0") as s:
    expect("127.0.0.2", s.host, "another address")
    expect(200, s.get(s.base)[0], "there")
if os.path.exists("/proc/net/if_inet6") and "00000000000000000000000000000001" in open("/proc/net/if_inet6").read():
    with Serving(run, "[::1]:0") as s:
        expect(200, s.get(s.base)[0], "IPv6")
with Serving(run, "0.0.0.0:0") as s:
    s.says("other machines can reach this address")
    expect(200, s.get(s.base, host="127.0.0.1")[0], "all addresses")
PY
expect 0 $? "the server"

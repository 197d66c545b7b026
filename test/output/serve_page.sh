# needs: root bpf python3 chromium microhttpd fast
# timeout: 400
# The page of --serve in a browser, as a person uses it: tables, charts, search, pause, the flame graph, downloads, light and dark,
# a phone, a connection that breaks, a page that is opened late, the end; with hostile keys. With --update pictures of it for doc/seeing.md.
. "$SRC/test/lib.bash"
cat >"$TMP/test.d" <<'D'
int i;
BEGIN { @calls["apple", 1] = sum(1000); @calls["pear", 2] = sum(250); @calls["<img src=x onerror=alert(1)>", 3] = sum(9); }
BEGIN { @stacks["one", stack()] = count(); printf("<b>bold</b> %s", "first"); }
tick-10hz { @grows["up"] = sum(5); @size["small"] = quantize(3); @size["large"] = quantize(3000); @size["small"] = quantize(i); i++; }
tick-10hz { printf("event %d", i); }
D
picture=
[ "${UPDATE-0}" = 0 ] || picture=$SRC/doc/pictures
cd "$TMP" && PYTHONPATH=$SRC/test/output:$SRC/test/format/lib python3 - "$DTRACE" "$TMP" "$picture" <<'PY'
import glob, json, os, re, signal, sys, time
from page import Page
from proxy import Proxy
from serving import Serving, expect
dtrace, tmp, pictures = sys.argv[1:]
text = lambda selector: "document.querySelector(%s).textContent" % json.dumps(selector)
card = "[...document.querySelectorAll('.agg')].find((c) => c.querySelector('code').textContent.startsWith('@%s'))"
cells = lambda name: "[...%s.querySelectorAll('tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))" % (card % name)
painted = lambda name: """(() => { const c = %s.querySelector('canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
    const seen = new Set(); for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 200) seen.add(d[i] + ',' + d[i + 1] + ',' + d[i + 2]); return seen.size; })()""" % (card % name)

def number(p, name, row, column):
    return int(p.js("%s[%d][%d]" % (cells(name), row, column)).replace(",", ""))

with Serving([dtrace, "-x", "engine=bpf", "-q", "-x", "aggrate=200ms", "-x", "switchrate=100ms", "-s", tmp + "/test.d"]) as s, Proxy(s.host, s.port) as proxy:
    with Page("http://127.0.0.1:%d%s" % (proxy.port, s.base)) as p:
        own = "http://127.0.0.1:%d%s" % (proxy.port, s.base)
        p.until(text("#state") + " === 'live'", "a live page")
        # tables
        p.until("document.querySelectorAll('.agg').length === 4", "all aggregations")
        expect([["apple", "1", "1,000"], ["pear", "2", "250"], ["<img src=x onerror=alert(1)>", "3", "9"]], [r[:3] for r in p.js(cells("calls"))], "rows")
        expect(0, p.js("document.querySelectorAll('img, td b, td script').length"), "keys and events are text")
        first = number(p, "grows", 0, 1)
        p.until("%s[0][1].replace(',', '') > %d" % (cells("grows"), first), "a larger number")
        p.until("parseFloat(%s[0][2]) > 0" % cells("grows"), "a rate")
        p.js("%s.querySelector('th button').id = 'bykey'" % (card % "calls"))
        p.click("#bykey")
        p.until("%s[0][0].startsWith('<img')" % cells("calls"), "sorted by key")
        # a line keeps its colour when others overtake it
        expect(True, p.js("""(() => { const a = [...aggs.values()].find((a) => a.name === 'calls'), rows = [...a.rows.values()], before = rows.map((r) => r.colour);
            rows.forEach((r, i) => { r.rate = r.key.length + i; }); drawChart(a, rows); rows.forEach((r, i) => { r.rate = -i; }); drawChart(a, rows);
            return rows.every((r, i) => r.colour && r.colour === before[i]); })()"""), "colours")
        # charts: lines, and a heat map with more than one shade; a click on a row chooses it
        p.until(painted("grows") + " > 5", "a line")
        p.until(painted("size") + " > 5", "a heat map")
        p.js("%s.querySelectorAll('tbody tr')[1].cells[0].id = 'row'" % (card % "size"))
        chosen = p.js(cells("size") + "[1][0]")
        p.click("#row")
        p.until("%s.querySelector('figcaption').textContent.endsWith(%s)" % (card % "size", json.dumps(": " + chosen)), "one key")
        # events
        p.until("[...document.querySelectorAll('#events tr')].some((r) => /event \\d+/.test(r.textContent))", "events")
        # search
        p.type("#search", "pear|first")
        p.until("%s.length === 1" % cells("calls"), "found keys")
        p.until("document.querySelectorAll('#events tbody tr').length === 1", "found events")
        expect("<b>bold</b> first", p.js("document.querySelector('#events tbody tr').cells[3].textContent"), "an event")
        p.type("#search", "onerror=alert(1")
        p.until("%s.length === 1" % cells("calls"), "an invalid expression is text")
        p.js("document.getElementById('search').value = ''; document.getElementById('search').dispatchEvent(new Event('input'))")
        # pause: nothing moves, nothing is lost
        p.click("#pause")
        p.until(text("#state") + " === 'paused'", "a pause")
        before = p.js("document.body.innerText")
        seen = p.js("newest.time")
        p.until("newest.time > %d + 1000" % seen, "frames meanwhile")
        expect(before, p.js("document.body.innerText"), "a page that stands still")
        p.click("#pause")
        p.until("document.body.innerText !== %s" % json.dumps(before), "it goes on")
        # the flame graph: zoom in, and it stays while new data comes
        p.until("!document.getElementById('flame').hidden", "a flame graph")
        expect("Flame graph of @stacks", p.js(text("#flame-title")), "its title")
        p.click("#flame-graph g[aria-label=one] rect")
        p.until("!document.getElementById('flame-reset').disabled", "zoomed in")
        p.js("document.querySelector('#flame-graph rect').dataset.old = 1")
        p.until("!document.querySelector('#flame-graph rect[data-old]')", "drawn again")
        expect(False, p.js("document.getElementById('flame-reset').disabled"), "still zoomed in")
        p.click("#flame-reset")
        p.until("document.getElementById('flame-reset').disabled", "zoomed out")
        # downloads
        p.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=tmp + "/got", eventsEnabled=True)
        p.js("scrollTo(0, 0)")
        for what in ("a[href='trace.ndjson']", "a[href='stacks.folded']", "#svg"):
            p.click("#download summary")
            p.until("document.getElementById('download').open", "the menu")
            p.click("#download " + what)
            p.click("h1")
        end = time.monotonic() + 100
        want = {"trace.ndjson", "stacks.folded", "flamegraph.svg"}
        # a file has its name before it has its contents
        while sum(e["method"] == "Browser.downloadProgress" and e["params"]["state"] == "completed" for e in p.events) < len(want):
            if time.monotonic() > end:
                sys.exit("no downloads: %r" % glob.glob(tmp + "/got/*"))
            p.js("1")
            time.sleep(.05)
        expect(want, set(os.listdir(tmp + "/got")), "downloads")
        expect("start", json.loads(open(tmp + "/got/trace.ndjson").readline())["type"], "ndjson")
        expect(True, "@stacks;one" in open(tmp + "/got/stacks.folded").read(), "folded")
        svg = open(tmp + "/got/flamegraph.svg").read()
        expect(True, svg.startswith("<svg ") and 'xmlns="http://www.w3.org/2000/svg"' in svg and "var(" not in svg, "SVG")
        # light and dark
        colour = "getComputedStyle(document.documentElement).backgroundColor"
        light = p.js(colour)
        p.click("#theme")
        expect(True, light != p.js(colour), "dark")
        # the connection breaks, and comes back
        proxy.cut()
        p.until(text("#state") + ".startsWith('connection lost')", "that the connection is lost")
        proxy.mend()
        p.until(text("#state") + " === 'live'", "that it is back")
        seen = p.js("newest.time")
        p.until("newest.time > %d" % seen, "new frames")
        p.type("#search", "first")
        p.until("document.querySelectorAll('#events tbody tr').length === 1", "each event once")
        p.js("document.getElementById('search').value = ''; document.getElementById('search').dispatchEvent(new Event('input'))")
        # the charts of a page that is opened later begin with what has been
        history = "(() => { const a = [...aggs.values()].find((a) => a.name === '%s'), r = [...a.rows.values()].find((r) => r.text === '%s'); return %s; })()"
        with Page(own) as late:
            late.until("newest !== null", "another page")
            opened = late.js("performance.timeOrigin")
            expect(True, late.js(history % ("grows", "up", "a.times.some((t, i) => t < %d && r.history[i - a.times.length + r.history.length] > 0)" % opened)), "rates before")
            expect(True, late.js(history % ("size", "large", "r.heat.some(([t, c]) => t < %d && c.get(2048) > 0)" % opened)), "a heat map before, of a key")
            expect(True, late.js(history % ("size", "large", "a.times.some((t, i) => t < %d && a.total[i].get(2048) > 0)" % opened)), "and of all")
            late.until(painted("grows") + " > 5", "the line")
            expect(True, late.js(cells("grows") + "[0][2]") != "", "a rate at once")
            expect([], late.problems, "errors")
        # nothing from elsewhere
        expect([], [r for r in p.requests if not r.startswith(own) and not r.startswith(("data:", "blob:"))], "requests")
        expect([], [x for x in p.problems if "ERR_" not in x], "errors")
        # the end
        s.p.send_signal(signal.SIGTERM)
        p.until(text("#state") + " === 'tracing has ended'", "that it has ended")
        expect("1,000", p.js(cells("calls") + "[1][2]"), "the last numbers stay")
    expect(0, s.p.wait(60), "status")

# drops are prominent; a phone
with Serving([dtrace, "-x", "engine=bpf", "-q", "-x", "nspec=1", "-x", "aggrate=200ms", "-n", "BEGIN { this->a = speculation(); this->b = speculation(); @a_rather_long_name[\"%s\", 1] = count(); }" % ("x" * 90)]) as s:
    with Page("http://127.0.0.1:%d%s" % (s.port, s.base), 390, 844, dark=True) as p:
        p.until("!document.getElementById('loss').hidden", "the drops")
        expect("1 drop: data was lost (1 failed speculation (no speculative buffer available))", p.js(text("#loss")), "drops")
        expect("rgb(16, 18, 21)", p.js(colour), "dark")
        expect(390, p.js("document.documentElement.scrollWidth"), "nothing is wider than a phone")
        expect([], p.problems, "errors")
    with Page("http://127.0.0.1:%d/%s/" % (s.port, "0" * 32)) as p:
        expect("the address has a token, which dtrace prints when it starts\n", p.js("document.body.innerText").rstrip() + "\n", "without the token")

if pictures:
    load = os.popen("while :; do ls /usr/lib >/dev/null; find /etc -name x; sort /etc/services >/dev/null; sleep .05; done & echo $!")
    pid = int(load.readline())
    try:
        with Serving([dtrace, "-q", "-x", "aggrate=500ms", "-n", """syscall:::entry { @calls[execname, probefunc] = count(); self->t = timestamp; }
                syscall:::return /self->t/ { @ns[execname] = quantize(timestamp - self->t); self->t = 0; }
                profile-997 /execname != "dtrace"/ { @cpu[execname, stack()] = count(); }
                proc:::exec { printf("%s runs %s", execname, args[0]); }"""]) as s:
            for name, width, height, dark in (("serve", 1280, 1400, False), ("serve-dark", 1280, 900, True), ("serve-phone", 390, 844, False)):
                with Page("http://127.0.0.1:%d%s" % (s.port, s.base), width, height, dark=dark) as p:
                    p.until("newest && aggs.size && [...aggs.values()][0].times.length > 6 && !document.getElementById('flame').hidden", "some time", 300)
                    p.shot("%s/%s.png" % (pictures, name))
    finally:
        os.kill(pid, signal.SIGTERM)
PY
expect 0 $? "the page"

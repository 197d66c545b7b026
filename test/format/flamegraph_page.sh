# needs: python3 chromium fast
# timeout: 120
# The flame graph in a browser, as a person uses it: zoom, search, icicle, another aggregation, the theme; with hostile names.
. "$SRC/test/lib.bash"
cat >"$TMP/before" <<'EOF'
@cpu;sh;libc.so.6`main;libc.so.6`read;vmlinux`vfs_read 10
@cpu;cc;libc.so.6`main;parse 90
EOF
script='BEGIN {
	@cpu["sh", "libc.so.6`main", "libc.so.6`read", "vmlinux`vfs_read"] = sum(60);
	@cpu["sh", "libc.so.6`main", "libc.so.6`write", "vmlinux`vfs_write"] = sum(25);
	@cpu["cc", "libc.so.6`main", "parse", "<img src=x onerror=alert(1)>"] = sum(15);
	@other["one"] = count(); exit(0); }'
dt -O flamegraph -o "$TMP/plain.html" -n "$script"
dt -O flamegraph -x flamediff="$TMP/before" -o "$TMP/diff.html" -n "$script"
picture=$TMP/flamegraph.png
cd "$TMP" && PYTHONPATH=$SRC/test/format/lib python3 - "$TMP" "$picture" <<'PY'
import sys
from page import Page
tmp, picture = sys.argv[1:]

def expect(want, got, what):
    if want != got:
        sys.exit("%s: %r instead of %r" % (what, got, want))

NAMES = "[...document.querySelectorAll('#graph g')].map(g => g.getAttribute('aria-label'))"
node = lambda name: "#graph g[aria-label='%s'] rect" % name
def width(p, name):
    return float(p.js("document.querySelector(%r).getAttribute('width')" % node(name)))
def row(p, name):
    return float(p.js("document.querySelector(%r).getAttribute('y')" % node(name)))

with Page("file://%s/plain.html" % tmp) as p:
    expect("Flame graph of @cpu", p.js("document.title"), "title")
    expect(["all", "cc", "libc.so.6`main", "parse", "<img src=x onerror=alert(1)>", "sh", "libc.so.6`main", "libc.so.6`read",
            "vmlinux`vfs_read", "libc.so.6`write", "vmlinux`vfs_write"], p.js(NAMES), "frames")
    whole = width(p, "all")
    expect(60, round(100 * width(p, "libc.so.6`read") / whole), "width of a frame")
    expect(True, row(p, "all") > row(p, "sh") > row(p, "libc.so.6`read"), "flames grow upwards")
    p.move(node("libc.so.6`read"))
    expect("libc.so.6`read60 sum, 60.00%; key", p.js("document.getElementById('tip').textContent"), "tooltip")
    p.type("#search", "VFS_")
    expect("85.00% in 2 places", p.js("document.getElementById('found').textContent"), "search")
    expect("var(--hit)", p.js("document.querySelector(%r).getAttribute('fill')" % node("vmlinux`vfs_read")), "found frames stand out")
    p.shot(picture)
    p.type("#search", "(")
    expect("15.00% in 1 place", p.js("document.getElementById('found').textContent"), "search for an invalid expression")
    p.click(node("sh"))
    expect(whole, width(p, "sh"), "zoomed in")
    expect(["all", "sh", "libc.so.6`main", "libc.so.6`read", "vmlinux`vfs_read", "libc.so.6`write", "vmlinux`vfs_write"], p.js(NAMES), "zoomed frames")
    p.click("#reset")
    expect(85, round(100 * width(p, "sh") / whole), "zoomed out")
    p.click(node("cc"))
    p.key("Escape")
    expect(["", True], p.js("[document.getElementById('search').value, document.getElementById('reset').disabled]"), "Escape")
    p.click("#icicle")
    expect(True, row(p, "all") < row(p, "sh") < row(p, "libc.so.6`read"), "icicles grow downwards")
    light = p.js("getComputedStyle(document.documentElement).backgroundColor")
    p.click("#theme")
    expect(True, light != p.js("getComputedStyle(document.documentElement).backgroundColor"), "theme")
    p.js("document.getElementById('set').value = '1'; document.getElementById('set').dispatchEvent(new Event('change'))")
    expect(["all", "one"], p.js(NAMES), "another aggregation")
    expect([], p.problems, "errors")
    expect(["file://%s/plain.html" % tmp], p.requests, "requests")

with Page("file://%s/plain.html" % tmp, 1280, 150) as p: # a graph that is higher than the window
    p.until("scrollY > 0", "scrolled to where flames begin")
    expect(True, p.js("(() => { const r = document.getElementById('legend').getBoundingClientRect(); return r.top >= 0 && r.bottom < 150 && r.height > 0; })()"), "the legend is visible")

with Page("file://%s/diff.html" % tmp, dark=True) as p:
    expect("rgb(22, 24, 28)", p.js("getComputedStyle(document.documentElement).backgroundColor"), "dark")
    colour = lambda name: p.js("document.querySelector(%r).getAttribute('fill')" % node(name)).split(" ")[0]
    expect(["hsl(8", "hsl(214"], [colour("sh"), colour("cc")], "more and less than before")
    expect("hsl(0", colour("all"), "the whole is the whole")
    p.click("#before")
    expect(10, round(100 * width(p, "libc.so.6`read") / width(p, "all")), "widths of the earlier run")
    p.move(node("cc"))
    expect("cc15 sum, 15.00%; before: 90, 90.00%; key", p.js("document.getElementById('tip').textContent"), "tooltip of a difference")
    p.shot(picture.replace(".png", "-diff.png"))
    expect([], p.problems, "errors")
PY
expect 0 $? "the page"
[ "${UPDATE-0}" = 0 ] || cp "$TMP/flamegraph-diff.png" "$SRC/doc/pictures/"
for f in flamegraph flamegraph-diff; do [ "$(head -c 4 "$TMP/$f.png" | tail -c 3)" = PNG ] || { echo "no picture $f"; count_failure; }; done

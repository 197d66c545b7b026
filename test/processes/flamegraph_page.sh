# needs: root bpf python3 chromium gcc fast
# timeout: 200
# The flame graph of a real profile in a browser: user and kernel code have their colours, a click leads into a function.
. "$SRC/test/lib.bash"
build chain processes/chain.c -lpthread -ldl
# what it shows has to be there: the profile goes on until it has samples of both
at_end 'kill $(cat "$TMP/pid") 2>/dev/null'
trace -x oformat=flamegraph -o "$TMP/page.html" -n 'profile-4999 /progenyof($target)/ { @[stack(), ustack(), execname] = count(); }
	profile-4999 /progenyof($target) && arg1 && execname == "chain"/ { n++; } profile-4999 /progenyof($target) && arg0 && execname == "cat"/ { m++; }
	tick-10hz /n > 300 && m > 300/ { exit(0); }' \
	-c "sh -c '$TMP/chain busy 100000 & echo \$! >$TMP/pid; while :; do cat /proc/kallsyms | sort | head -n 1; done'"
expect "" "$err"
cd "$TMP" && PYTHONPATH=$SRC/test/format/lib python3 - "$TMP" <<'PY'
import sys
from page import Page
tmp = sys.argv[1]

def expect(want, got, what):
    if want != got:
        sys.exit("%s: %r instead of %r" % (what, got, want))

with Page("file://%s/page.html" % tmp) as p:
    hues = "new Set([...document.querySelectorAll('#graph rect')].map(r => Math.round(Number(/hsl\\((\\d+)/.exec(r.getAttribute('fill'))[1]) / 60)))"
    expect(True, p.js("(() => { const h = %s; return h.has(0) && h.has(3) || h.has(1) && h.has(3); })()" % hues), "user and kernel colours")
    p.js("scrollTo(0, 0)")
    p.type("#search", "link9")
    expect(True, p.js("!document.getElementById('found').textContent.startsWith('0%')"), "link9 was found")
    p.shot(tmp + "/flamegraph.png")
    p.js("document.querySelector('#graph g[aria-label=\"chain`link1\"]').scrollIntoView({block: 'center'})")
    p.click("#graph g[aria-label='chain`link1'] rect")
    expect(True, p.js("document.getElementById('status').textContent.startsWith('chain`link1: ')"), "a click zooms")
    expect([], p.problems, "errors")
PY
expect 0 $? "the page"
[ "${UPDATE-0}" = 0 ] || cp "$TMP/flamegraph.png" "$SRC/doc/pictures/"

# needs: root bpf gcc python3
# uses: chromium
# timeout: 200
# --top while something happens: counts grow, and have rates; with --update a picture of it for doc/seeing.md.
. "$SRC/test/lib.bash"
build chain processes/chain.c -lpthread -ldl
picture=
[ "${UPDATE-0}" = 0 ] || picture=$SRC/doc/pictures/top.png
cd "$TMP" && PYTHONPATH=$SRC/test/cmd/lib:$SRC/test/format/lib python3 - "$DTRACE" "$TMP/chain" "$TMP/page.html" "$picture" <<'PY'
import re, subprocess, sys
from terminal import Terminal
dtrace, chain, page, picture = sys.argv[1:]
load = subprocess.Popen([chain, "loop", "1"])
try:
    # only that process, unless it is for the picture
    mine = "" if picture else "/pid == %d/" % load.pid
    t = Terminal([dtrace, "-x", "encoding=utf8", "-x", "aggrate=200ms", "-q", "--top", "-n",
                  "syscall:::entry %s { @calls[execname] = count(); self->t = timestamp; }" % mine +
                  "syscall:::return /self->t/ { @ns[probefunc] = quantize(timestamp - self->t); self->t = 0; }"], 110, 30)
    row = lambda: next((l for l in t.text().split("\n") if re.match(r"  chain +\d+ ", l)), "")
    count = lambda: int((row().split() + ["0", "0"])[1])
    t.until(lambda: count() > 0, "calls of chain")
    first = count()
    t.until(lambda: count() > first, "more of them")
    t.until(lambda: float(re.search(r"([\d.]+)/s", row())[1]) > 0, "a rate")
    t.until(lambda: re.search(r"  getppid +\d+ +[\d.]+/s \|.*\|", t.text()), "a heat map")
    if picture:
        t.until(lambda: count() > 5000, "a longer time", 120)
        t.until(lambda: t.log.endswith("\033[0m\033[K"), "a whole picture")
        open(page, "w").write(t.page())
    t.type("q")
    status = t.end()
    if status:
        sys.exit("status %d" % status)
    if "Distribution" not in t.log.rsplit("\033[?1049l")[-1]:
        sys.exit("no text at the end: " + t.text())
finally:
    load.kill()
if picture:
    from page import Page
    with Page("file://" + page, 960, 560) as p:
        p.shot(picture)
PY
expect 0 $? "the table"

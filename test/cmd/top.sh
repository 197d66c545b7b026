# needs: python3
# --top: the table, its keys, another size of the terminal, hostile keys, and the plain text at the end.
. "$SRC/test/lib.bash"

dt -q --top -n 'BEGIN { exit(0); }'
expect "dtrace: --top needs a terminal for input and output" "$err" "no terminal"
expect 1 $status

cat >"$TMP/test.d" <<'D'
BEGIN {
	@calls["apple", 1] = sum(1000); @calls["pear", 2] = sum(250); @calls["fig\033[2J\n", 3] = sum(1);
	@time[probename] = quantize(1); @time[probename] = quantize(9); @time[probename] = quantize(9); @time[probename] = quantize(40);
	@least = min(-7);
	printf("printed\033\n");
}
END { printf("ended\n"); }
D
"$DTRACE" -x engine=vm -x strsize=16 -qs "$TMP/test.d" -o "$TMP/plain" -n 'BEGIN { exit(0); }'
cd "$TMP" && PYTHONPATH=$SRC/test/cmd/lib python3 - "$DTRACE" "$TMP/test.d" "$TMP/plain" <<'PY'
import os, sys
from terminal import Terminal
dtrace, script, plain = sys.argv[1:]

def expect(want, got, what):
    if want != got:
        sys.exit("%s:\n%s\ninstead of\n%s" % (what, got, want))

start = [dtrace, "-x", "engine=vm", "-x", "aggrate=100ms", "-x", "encoding=ascii", "-x", "strsize=16", "-q", "--top", "-s", script]
t = Terminal(start, 80, 24, {"NO_COLOR": "1"})
t.until(lambda: t.other and "q quit" in t.text(), "the table")
t.until(lambda: "apple" in t.text() and "@least" in t.text(), "rows")
expect("""@calls[..., ...] sum(): 3 keys
  apple, 1             1000       0.0/s ########################################
  pear, 2               250       0.0/s ##########
  fig?[2J?, 3             1       0.0/s
@time[probename] quantize(): 1 key, from 1 to 63
  BEGIN                4       0.0/s |+  @ +|
@least min()
                      -7""", "\n".join(t.line(i) for i in range(8)), "the screen")
expect("q quit  s by rate  p pause", t.line(23), "the last line")
expect(False, t.overflowed, "it fits")
expect((False, False), t.modes(), "keys come one by one")
expect(False, t.cursor, "the cursor is hidden")

t.resize(60, 10)
t.until(lambda: "\033[10;1H" in t.log, "another size")
t.until(lambda: "apple" in t.line(1), "rows in the other size")
t.overflowed, t.log = False, "" # what it had drawn for the old size has come
t.until(lambda: t.log.count("\033[H") > 1, "it draws again")
expect(False, t.overflowed, "it fits again")
expect(True, "... and" in t.text(), "what does not fit is counted")

t.type("s")
t.until(lambda: "s by value" in t.text(), "the other order")
t.type("p")
t.until(lambda: "p go on" in t.text(), "a pause")
t.resize(100, 60)
t.type("q")
expect(0, t.end(), "status")
expect(False, t.other, "the screen of before is back")
expect(True, t.cursor, "the cursor is back")
lines = lambda text: [line.rstrip().replace("\033", "?") for line in text.strip().split("\n")]
expect(lines(open(plain).read()), lines(t.text()), "the text at the end")

# ^C ends it as well, and the terminal is as it was
t = Terminal(start, 80, 24)
t.until(lambda: "apple" in t.text(), "rows, in colour")
before = t.modes()
t.type("\x03")
t.until(lambda: not t.other and "ended" in t.text(), "the end")
t.end()

# an error while the table is shown is not lost with its screen
t = Terminal([dtrace, "-x", "engine=vm", "-x", "aggrate=100ms", "-q", "--top", "-n", "BEGIN { @ = count(); } BEGIN { trace(*(int *)8); }"], 160, 24)
t.until(lambda: "address 0x8 is not mapped" in t.line(23), "the message on the screen")
t.type("q")
t.end()
expect(True, "dtrace: error on enabled probe" in t.text(), "the message at the end")

# of a long output the last part is printed at the end
many = "BEGIN { @ = count(); }" + "BEGIN { printf(\"%60000d\\n\", 1); }" * 100 + "END { printf(\"the last\\n\"); }"
t = Terminal([dtrace, "-x", "engine=vm", "-x", "aggrate=100ms", "-x", "switchrate=50ms", "-q", "--top", "-n", many], 80, 24)
t.until(lambda: t.log.count("\033[H") > 4, "the table")
t.type("q")
t.end()
expect(True, "of the output are not shown; use -o FILE" in t.text() and "the last" in t.text(), "the end of a long output")
size = t.log[t.log.rindex("\033[?1049l"):].count(" ")
expect(True, 1 << 20 < size < 4 << 20, "its size: %d" % size)
PY
expect 0 $? "on a terminal"

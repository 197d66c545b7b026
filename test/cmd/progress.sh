# needs: python3
# Work that takes longer than half a second is named on a terminal, in a line that is erased; elsewhere nothing of it is printed.
. "$SRC/test/lib.bash"
# The preprocessor takes as long as the test wants.
cat >"$TMP/cpp" <<EOF
#!/bin/sh
while [ ! -e "$TMP/go" ]; do sleep 0.05; done
grep -v '^#'
EOF
chmod +x "$TMP/cpp"
printf 'BEGIN { printf("traced\\n"); exit(0); }\n' >"$TMP/test.d"
cd "$TMP" && PYTHONPATH=$SRC/test/cmd/lib python3 - "$DTRACE" "$TMP" <<'PY'
import os, sys
from terminal import Terminal
dtrace, tmp = sys.argv[1:]

def expect(want, got, what):
    if want != got:
        sys.exit("%s:\n%r\ninstead of\n%r" % (what, got, want))

run = [dtrace, "-x", "engine=vm", "-C", "-x", "cpppath=" + tmp + "/cpp", "-q", "-s", "test.d"]
t = Terminal(run, 80, 24)
t.until(lambda: "dtrace: compiling test.d: " in t.text(), "the line")
t.until(lambda: t.log.count("\r\033[K") >= 3, "it is drawn again")
open(tmp + "/go", "w").close()
expect(0, t.end(), "status")
expect("traced", t.text().strip(), "the screen at the end")

os.remove(tmp + "/go") # an error: its text replaces the line
open(tmp + "/test.d", "w").write("BEGIN { trace(nosuch); }")
t = Terminal(run, 80, 24, {"NO_COLOR": "1"})
t.until(lambda: "compiling" in t.text(), "the line")
open(tmp + "/go", "w").close()
expect(1, t.end(), "status")
expect("dtrace: failed to compile script test.d: ", t.line(0)[:41], "the first line")
expect(False, "compiling" in t.text(), "the line is gone")

# what is quick shows nothing; neither does a terminal that cannot erase
t = Terminal([dtrace, "-x", "engine=vm", "-qn", "BEGIN { printf(\"traced\"); exit(0); }"], 80, 24)
t.end()
expect("traced", t.log.strip(), "quick")
os.remove(tmp + "/go")
t = Terminal(["sh", "-c", "(sleep 2; touch go) & exec \"$@\"", "-"] + run, 80, 24, {"TERM": "dumb", "NO_COLOR": "1"})
expect(1, t.end(), "status")
expect(False, "compiling" in t.log, "a dumb terminal")
PY
expect 0 $? "on a terminal"
rm -f "$TMP/go"
(sleep 2; touch "$TMP/go") &
dt -C -x cpppath="$TMP/cpp" -qs "$TMP/test.d"
expect_match '^dtrace: failed to compile script' "$err"
expect 1 "$(wc -l <"$TMP/err")" "lines without a terminal"

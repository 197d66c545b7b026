# needs: python3
# -x oformat=flamegraph: the data in the page are what was counted; no name can leave them; the difference of two runs.
. "$SRC/test/lib.bash"

# What the page shows, as folded lines: with flamediff both numbers.
shown() {
	python3 - "$1" <<'PY'
import html.parser, json, sys

class Finder(html.parser.HTMLParser):
    """What is inside <script id="data">, and which tags the page has."""
    def __init__(self):
        super().__init__()
        self.inside, self.data, self.tags = False, "", []
    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.inside = tag == "script" and ("id", "data") in attrs
        for name, value in attrs:
            assert not name.startswith("on") and not (value or "").startswith(("http:", "https:", "//")), (tag, name, value)
    def handle_endtag(self, tag):
        self.inside = False
    def handle_data(self, text):
        if self.inside:
            self.data += text

f = Finder()
f.feed(open(sys.argv[1], encoding="utf-8").read())
f.close()
assert f.tags.count("script") == 2 and not {"img", "iframe", "link", "object"} & set(f.tags), f.tags
data = json.loads(f.data)
step = 4 if data["diff"] else 3
for s in data["sets"]:
    print(s["name"], s["unit"])
    path = []
    for i in range(0, len(s["nodes"]), step):
        depth, frame, *counts = s["nodes"][i:i + step]
        assert 1 <= depth <= len(path) + 1
        path[depth - 1:] = [data["frames"][frame][0]]
        if any(counts):
            print(" ", ";".join(path), *counts)
PY
}

dt -O flamegraph -n 'BEGIN { @["cat", 1] = count(); @["cat", 1] = count(); @["dog", 2] = count(); @b["x"] = sum(1 << 40); exit(0); }'
expect "" "$err"
expect '@ count
  cat;1 2
  dog;2 1
@b sum
  x 1099511627776' "$(shown "$TMP/out")"

# hostile names: of HTML, of JSON, of the terminal, and not UTF-8
dt -O flamegraph -n 'BEGIN { @["</script><script>alert(1)</script>", "\"},{", "<!--", "\033[2J", "\377", "&lt;"] = count(); exit(0); }'
expect '@ count
  </script><script>alert(1)</script>;"},{;<!--;?[2J;�;&lt; 1' "$(shown "$TMP/out")" "hostile names"
expect 0 "$(lines '<script>alert')"

dt -O flamegraph -n 'BEGIN { exit(0); }'
expect "" "$(shown "$TMP/out")" "nothing"

# the difference: what only one of the runs had is 0 in the other
printf '%s\n' 'cat;1 5' 'gone;a;b 7' '' >"$TMP/before"
dt -O flamegraph -x flamediff="$TMP/before" -n 'BEGIN { @["cat", 1] = count(); @["new", 2] = count(); exit(0); }'
expect '@ count
  cat;1 1 5
  gone;a;b 0 7
  new;2 1 0' "$(shown "$TMP/out")" "difference"
expect "" "$err"
# a run compared with its own folded output, with two aggregations
script='BEGIN { @a["x", 1] = count(); @b["y;", 2] = count(); exit(0); }'
dt -O folded -o "$TMP/before" -n "$script"
dt -O flamegraph -x flamediff="$TMP/before" -n "$script"
expect '@a count
  x;1 1 1
@b count
  y;;2 1 1' "$(shown "$TMP/out")" "the same run"

# mistakes are told before tracing begins
echo 'no count here' >"$TMP/bad"
dt -O flamegraph -x flamediff="$TMP/bad" -n 'BEGIN { printf("ran"); exit(0); }'
expect "dtrace: could not enable tracing: $TMP/bad, line 1: not \"frame;frame count\"" "$err"
dt -O flamegraph -x flamediff="$TMP/none" -n 'BEGIN { exit(0); }'
expect "dtrace: could not enable tracing: $TMP/none: No such file or directory" "$err"

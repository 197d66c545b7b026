# needs: python3 readelf gcc
# The modules of src/ use each other only as the table in doc/architecture.md allows.
. "$SRC/test/lib.bash"

expect "" "$(python3 "$SRC/test/house/modules.py" "$SRC" "$BUILD")"

# The check itself, on a small tree with one error of each kind.
tree=$TMP/tree
mkdir -p "$tree"/{doc,cmd/sub,build} "$tree"/src/{low,high,other}
cat >"$tree/doc/architecture.md" <<'EOT'
| module | public headers | may use |
|---|---|---|
| `low` | `low/low.h` | |
| `high` | `high/high.h` `high/gone.h` | `low` |
| `other` | | `low` |

| another | table | here |
EOT
printf '/* ---- other.c ---- */\nint dt_low_g(void);\n/* ---- call.c ---- */\nvoid dt_low_f(void);\n' >"$tree/src/low/low.h"
: >"$tree/src/low/private.h"
: >"$tree/src/high/high.h"
: >"$tree/src/high/same.c"
: >"$tree/src/other/same.c"
printf '#include "low/low.h"\n#include "low/private.h"\n' >"$tree/src/high/high.c"
printf '#include "high/high.h"\n#include "low.h"\n' >"$tree/src/low/low.c"
printf '#include "low/low.h"\n#include "dtrace.h"\n#include "high.h"\n' >"$tree/cmd/sub/high.c"
expect "high: there is no header high/gone.h
the same name: src/high/high.c, cmd/sub/high.c
the same name: src/high/same.c, src/other/same.c
src/high/high.c includes low/private.h, which is private to low
src/low/low.c includes high/high.h: low may not use high
src/low/low.c includes low.h: write the path from src/
cmd/sub/high.c includes low/low.h: cmd sees include/dtrace.h only
cmd/sub/high.c includes high.h: cmd sees include/dtrace.h only" "$(python3 "$SRC/test/house/modules.py" "$tree" "$tree/build")"

sed -i 's/| `low` | `low\/low.h` | |/| `low` | `low\/low.h` | `high` |/' "$tree/doc/architecture.md"
expect_match 'cycle: low -> high -> low' "$(python3 "$SRC/test/house/modules.py" "$tree" "$tree/build")"

# A symbol of a module that may not be used, declared without its header; the same in cmd.
printf 'void high_f(void);\nvoid dt_low_f(void);\nint dt_low_g(void);\nvoid dt_low_f(void)\n{ high_f(); }\nint dt_low_g(void)\n{ return 1; }\n' >"$tree/src/low/call.c"
printf 'void high_f(void);\nvoid high_f(void) { }\n' >"$tree/src/high/call_high.c"
mkdir -p "$tree"/build/src/{low,high}
for f in low/call high/call_high; do gcc -c -o "$tree/build/src/$f.o" "$tree/src/$f.c"; done
printf 'void high_f(void);\nint main(void) { high_f(); }\n' >"$tree/cmd/main.c"
mkdir -p "$tree/build/cmd"
gcc -c -o "$tree/build/cmd/main.o" "$tree/cmd/main.c"
sed -i 's/| `low` | `low\/low.h` | `high` |/| `low` | `low\/low.h` | |/' "$tree/doc/architecture.md"
expect_match 'src/low/call.c uses high_f of src/high/call_high.c: low may not use high' \
	"$(python3 "$SRC/test/house/modules.py" "$tree" "$tree/build")"
expect_match 'cmd/main.c uses high_f of src/high/call_high.c: cmd sees include/dtrace.h only' \
	"$(python3 "$SRC/test/house/modules.py" "$tree" "$tree/build")"
expect_match 'src/low/low.h:2: dt_low_g\(\) is in call.c, not in other.c' "$(python3 "$SRC/test/house/modules.py" "$tree" "$tree/build")"
expect_match 'src/low/call.c: dt_low_g is used nowhere else: make it static' "$(python3 "$SRC/test/house/modules.py" "$tree" "$tree/build")"

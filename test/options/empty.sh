# -x empty: a program without clauses compiles.
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
echo '/* nothing */' >e.d
dt -e -s e.d
expect "dtrace: failed to compile script e.d: empty D program translation unit" "$err"
dt -e -x empty -s e.d
expect "0 " "$status $err"

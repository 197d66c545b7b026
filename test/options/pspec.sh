# -x pspec: text that could be a type is a probe description.
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
echo 'int* { trace(1); }' >p.d
dt -e -Z -x errtags -s p.d
expect_match 'D_SYNTAX' "$err"
dt -e -Z -x pspec -s p.d
expect "0 " "$status $err"

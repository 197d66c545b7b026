# Variable ids end at 0xffff: 64256 variables in each scope.
. "$SRC/test/lib.bash"
awk 'BEGIN { for (i = 0; i < 64256; i++) printf "int v%d;\n", i; print "BEGIN { exit(0); }" }' >"$TMP/fits.d"
dt -es "$TMP/fits.d"
expect 0 "$status" "64256 variables"
sed 's/^BEGIN/int one_more;\n&/' "$TMP/fits.d" >"$TMP/more.d"
dt -x errtags -es "$TMP/more.d"
expect_match '\[D_ID_OFLOW\] line 64257: ' "$err"

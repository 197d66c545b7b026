# -x control: an if is blocks of one clause, or several clauses. -x loopmax: rounds of a loop.
. "$SRC/test/lib.bash"
prog='BEGIN /1/ { printf("a "); if (1) { printf("b "); } else { printf("c "); } printf("d\n"); exit(0); }'
dt -qn "$prog"
expect "a b d" "$(echo $out)"
dt -x quiet=no -n "$prog"
expect_match 'matched 1 probe$' "$err"
dt -x control=clauses -qn "$prog"
expect "a b d" "$(echo $out)"
dt -x control=clauses -n "$prog"
expect_match 'matched 9 probes$' "$err"
dt -x control=clauses -n 'BEGIN { if (1) while (0) ; }'
expect_match 'loops and switch are not available with option control=clauses' "$err"
dt -x control=goto -n BEGIN
expect_match 'control=goto' "$err"
for n in 0 1000001; do
	dt -x loopmax=$n -n BEGIN
	expect_match "loopmax=$n" "$err"
done
# objects for other DTraces have clauses
printf 'BEGIN { if (1) { exit(0); } }\n' >"$TMP/a.d"
for form in '' clauses blocks; do
	dt -G ${form:+-x control=$form} -o "$TMP/$form.o" -s "$TMP/a.d"
	expect 0 $status "$err"
done
cmp -s "$TMP/.o" "$TMP/clauses.o" || { echo "-G does not write clauses"; count_failure; }
cmp -s "$TMP/.o" "$TMP/blocks.o" && { echo "-x control=blocks does not change -G"; count_failure; }
# nothing that is written makes it hang or crash
deep=$(printf 'for (;;) {%.0s' {1..60})break$(printf ';}%.0s' {1..60})
dt -qx loopmax=10 -n "BEGIN { $deep } BEGIN { exit(0); }"
expect 0 $status "$err"
dt -n "BEGIN { $(printf 'while (0) ;%.0s' {1..65}) }"
expect_match 'more than 64 loops in a clause' "$err"
dt -n "BEGIN { $(printf 'if (1) %.0s' {1..5000}) ; }"
expect_match 'nested too deeply' "$err"
dt -qn "BEGIN { x = y = 0; $(printf 'if (x) y++; %.0s' {1..5000}) printf(\"%d\\n\", y); exit(0); }"
expect 0 "$(echo $out)"

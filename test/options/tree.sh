# -x tree=1: the program as parsed; 4: as it is compiled; -d the same on standard output.
. "$SRC/test/lib.bash"
dt -e -x tree=1 -n 'BEGIN /pid/ { x = 1 + 2 * 3; if (x) { trace(x); } }'
expect_match 'x = 1 \+ 2 \* 3;' "$err"
expect_match 'if \(x\)' "$err"
dt -e -x control=clauses -x tree=4 -n 'BEGIN { if (pid) { trace(1); } else { trace(2); } }'
tree=$err
expect_match '^/!self->%error && this->%condition_1/$' "$tree"
expect_match '^dtrace:::ERROR$' "$tree"
dt -e -x control=clauses -d -n 'BEGIN { if (pid) { trace(1); } else { trace(2); } }'
expect "$tree" "$(echo "$out")"
expect "" "$err"
# what blocks are made of is the program as it was written
dt -e -d -n 'BEGIN { do { if (pid) break; else x++; } while (x < 3); for (;;) { switch (x) { case 1: continue; default: break; } } }'
expect "" "$err"
expect ':::BEGIN
{
	do {
		if (pid) {
			break;
		} else {
			x++;
		}
	} while (x < 3);
	for (; ; ) {
		switch (x) {
		case 1:
			continue;
		default:
			break;
		}
	}
}' "$(echo "$out")"

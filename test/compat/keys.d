// Rows of an aggregation are the same if their keys have the same value, whatever the size of the expression. A row
// has the width that its key had in the statement that made it; rows of different sizes sort by value.
// run: -q -x aggsortkey
BEGIN
{
	@a[(char)1] = count();
	@a[1] = count();
	@a[(long)2] = count();
	@a[(short)2] = count();
	@a[(short)3] = count();
	@a[5000000000] = count();
	@a[-1] = count();
	@a[(long)-1] = count();
	@a[(uint32_t)-1] = count();
	@b["x", 7, (char)8] = sum(1);
	@b["x", (long)7, (long)8] = sum(1);
	@b["x", (long)9, 9] = sum(1);
	printa(@a);
	printa(@b);
	printa("%d %@d\n", @a);
	printa("%x %@d\n", @a);
	exit(0);
}

// Precedence, from the table in the manual.
// run: -q
BEGIN
{
	printf("%d\n", 1 + 2 << 3);
	printf("%d\n", 1 | 2 ^ 3 & 4);
	printf("%d\n", 5 & 3 == 3);
	printf("%d\n", !1 + 1);
	printf("%d\n", -2 * -3);
	printf("%d\n", 1 || 0 && 0);
	printf("%d\n", 1 ^^ 1 || 1);
	printf("%d\n", 2 + 3 == 5 && 6 > 5);
	printf("%d\n", ~1 + 1);
	printf("%d\n", 10 - 4 - 3);
	printf("%d\n", 100 / 10 / 2);
	exit(0);
}

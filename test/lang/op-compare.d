// Comparisons yield 0 or 1; mixed signs compare as in C.
// run: -q
BEGIN
{
	printf("%d\n", 1 < 2);
	printf("%d\n", 2 <= 1);
	printf("%d\n", 2 > 1);
	printf("%d\n", 1 >= 1);
	printf("%d\n", 1 == 1);
	printf("%d\n", 1 != 1);
	printf("%d\n", -1 < 0);
	printf("%d\n", -1 < 0U);
	printf("%d\n", -1L < 0UL);
	printf("%d\n", (x = -1) < 0);
	printf("%d\n", x < 0U);
	printf("%d\n", x == -1);
	printf("%d\n", (y = -1L) > 1L);
	printf("%d\n", (u = 18446744073709551615UL) > 1UL);
	exit(0);
}

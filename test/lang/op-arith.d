// Integer arithmetic follows C: signed and unsigned, 32 and 64 bits.
// run: -q
BEGIN
{
	printf("%d\n", 1 + 2 * 3);
	printf("%d\n", (1 + 2) * 3);
	printf("%d\n", 7 / 2);
	printf("%d\n", -7 / 2);
	printf("%d\n", -7 % 3);
	printf("%d\n", 7 - 10);
	printf("%d\n", 2147483647 + 1);
	printf("%d\n", 2147483647L + 1);
	printf("%u\n", 4294967295U + 1);
	printf("%u\n", 1UL << 63);
	printf("%u\n", -1 / 2U);
	printf("%u\n", (-1L) / 2UL);
	printf("%d\n", -(5));
	printf("%d\n", +5);
	printf("%d\n", - -5);
	exit(0);
}

// Bitwise operators and shifts.
// run: -q
BEGIN
{
	printf("%x\n", 0xf0 & 0x3c);
	printf("%x\n", 0xf0 | 0x0f);
	printf("%x\n", 0xff ^ 0x0f);
	printf("%d\n", ~0);
	printf("%x\n", ~0U);
	printf("%d\n", 1 << 10);
	printf("%d\n", -16 >> 2);
	printf("%d\n", (unsigned)-16 >> 28);
	printf("%d\n", 1L << 40);
	printf("%d\n", (x = -16) >> 2);
	printf("%x\n", (y = 0xfffffff0) >> 4);
	printf("%x\n", x & 0xff);
	exit(0);
}

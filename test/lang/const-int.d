// Integer constants: decimal, octal, hexadecimal, suffixes; their types.
// run: -q
BEGIN
{
	printf("%d\n", 10);
	printf("%d\n", 010);
	printf("%d\n", 0x10);
	printf("%d\n", 0XfF);
	printf("%d\n", sizeof (1));
	printf("%d\n", sizeof (1L));
	printf("%d\n", sizeof (4294967296));
	printf("%d\n", sizeof (2147483648));
	printf("%d\n", sizeof (0x80000000));
	printf("%d\n", sizeof (1ULL));
	printf("%u\n", 18446744073709551615u);
	printf("%x\n", 0xffffffffffffffff);
	exit(0);
}

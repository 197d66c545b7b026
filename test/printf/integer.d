// Integer conversions: sizes need not be written, signs come from the argument.
// run: -q
BEGIN
{
	printf("%d\n", -5);
	printf("%i\n", -5);
	printf("%u\n", -5);
	printf("%d\n", 5U);
	printf("%x\n", 255);
	printf("%X\n", 255);
	printf("%o\n", 8);
	printf("%#x\n", 255);
	printf("%#o\n", 8);
	printf("%d\n", -1L);
	printf("%x\n", -1L);
	printf("%5d|\n", 42);
	printf("%-5d|\n", 42);
	printf("%05d|\n", 42);
	printf("%+d\n", 42);
	printf("% d\n", 42);
	printf("%.4d\n", 42);
	printf("%d\n", (char)65);
	printf("%d\n", (unsigned char)200);
	printf("%hd\n", (short)-3);
	printf("%ld\n", 5L);
	printf("%lld\n", 5LL);
	printf("%llx\n", (uint64_t)5);
	printf("%d\n", 0xffffffff);
	exit(0);
}

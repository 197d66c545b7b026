// Casts cut and extend.
// run: -q
BEGIN
{
	x = 0x1234567890abcdef;
	printf("%x %x %x\n", (uint32_t)x, (uint16_t)x, (uint8_t)x);
	printf("%d %d %d\n", (int)x, (short)x, (char)x);
	printf("%d %d\n", (char)200, (unsigned char)200);
	printf("%d\n", (int)3000000000);
	printf("%d\n", (char)x == (char)0xef);
	printf("%s\n", (string)"s");
	printf("%d\n", (int64_t)(int)-1);
	printf("%u\n", (uint64_t)-1);
	exit(0);
}

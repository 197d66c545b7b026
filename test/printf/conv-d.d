// %d: decimal, by the sign of the argument's type. %i is signed and %u unsigned, whatever the type says.
// run: -q
BEGIN
{
	printf("%d %i %u\n", -1, -1, -1);
	printf("%d %i %u\n", (uint32_t)-1, (uint32_t)-1, (uint32_t)-1);
	printf("%d %i %u\n", (char)-1, (char)-1, (char)-1);
	printf("%d %i %u\n", (uint16_t)-1, (uint16_t)-1, (uint16_t)-1);
	printf("%d %i %u\n", -1LL, -1LL, -1LL);
	printf("%d %i %u\n", 0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff);
	printf("%d %d\n", 0x7fffffffffffffff, -0x7fffffffffffffff - 1);
	exit(0);
}

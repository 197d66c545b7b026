// %x %X %o: the bits of the argument's type, no more.
// run: -q
BEGIN
{
	printf("%x %X %o\n", 0xabc, 0xabc, 0xabc);
	printf("%x %X %o\n", (char)-1, (char)-1, (char)-1);
	printf("%x %X %o\n", -1, -1, -1);
	printf("%x %X %o\n", -1LL, -1LL, -1LL);
	printf("%#x %#X %#o %#x %#o\n", 255, 255, 8, 0, 0);
	exit(0);
}

// getmajor and getminor of a kernel device number.
// run: -q
BEGIN
{
	printf("%d\n", getmajor(0x800001));
	printf("%d\n", getminor(0x800001));
	printf("%d\n", getminor(0x8fffff));
	exit(0);
}

// strtoll(): text as an integer.
// run: -q
BEGIN
{
	printf("%d\n", strtoll("42"));
	printf("%d\n", strtoll("  -17xyz"));
	printf("%d\n", strtoll("ff", 16));
	printf("%d\n", strtoll("0x1F", 16));
	printf("%d\n", strtoll("777", 8));
	printf("%d\n", strtoll("z", 36));
	printf("%d\n", strtoll("abc"));
	printf("%d\n", strtoll("101", 2));
	exit(0);
}

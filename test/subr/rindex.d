// rindex(): where a string last occurs.
// run: -q
BEGIN
{
	printf("%d\n", rindex("ababab", "ab"));
	printf("%d\n", rindex("foo", "x"));
	printf("%d\n", rindex("ababab", "ab", 3));
	printf("%d\n", rindex("ababab", "ab", 0));
	printf("%d\n", rindex("ababab", "ab", -1));
	printf("%d\n", rindex("abc", ""));
	printf("%d\n", rindex("abc", "", 1));
	exit(0);
}

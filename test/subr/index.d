// index(): where a string first occurs.
// run: -q
BEGIN
{
	printf("%d\n", index("foo bar", "bar"));
	printf("%d\n", index("foo", "x"));
	printf("%d\n", index("ababab", "ab", 1));
	printf("%d\n", index("ababab", "ab", -5));
	printf("%d\n", index("ababab", "ab", 5));
	printf("%d\n", index("abc", ""));
	printf("%d\n", index("abc", "", 2));
	printf("%d\n", index("abc", "", 10));
	exit(0);
}

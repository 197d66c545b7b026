// cleanpath(): a path without //, /./ and /../.
// run: -q
BEGIN
{
	printf("%s\n", cleanpath("/foo/./bar"));
	printf("%s\n", cleanpath("/foo/../bar"));
	printf("%s\n", cleanpath("//foo///bar"));
	printf("%s\n", cleanpath("/../../foo"));
	printf("%s\n", cleanpath("/a/b/../../c"));
	exit(0);
}

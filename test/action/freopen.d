// freopen() redirects output; an empty name restores it. It needs -w.
// run: -q -w
BEGIN
{
	printf("one\n");
	freopen("/dev/null");
	printf("gone\n");
	freopen("");
	printf("two\n");
	exit(0);
}

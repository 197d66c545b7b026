// With -x defaultargs an argument that was not given is 0, or the empty string.
// run: -q -x defaultargs 5
BEGIN
{
	printf("%d %s\n", $1, $$1);
	printf("%d [%s]\n", $2, $$2);
	exit(0);
}

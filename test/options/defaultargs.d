// -x defaultargs: missing arguments are 0 or "".
// run: -q -x defaultargs 5
BEGIN
{
	printf("%d %d [%s]\n", $1, $2, $$3);
	exit(0);
}

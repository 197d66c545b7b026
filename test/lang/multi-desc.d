// One clause for several descriptions; each is enabled by itself.
// run: -q
BEGIN,
END
{
	printf("%s\n", probename);
}

BEGIN
{
	exit(0);
}

// run: -q 17 word "two words"
/* Words on the command line are $1, $2 ...; $$n is always a string; $0 is the script. */
BEGIN
{
	printf("%d %s %s %s %s\n", $1 + 1, $$1, $$2, $3, $$0);
	exit(0);
}

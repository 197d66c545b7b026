// Character constants, also of several characters.
// run: -q
BEGIN
{
	printf("%d\n", 'a');
	printf("%d\n", '\n');
	printf("%d\n", '\0');
	printf("%d\n", '\x41');
	printf("%d\n", '\101');
	printf("%x\n", 'ab');
	printf("%x\n", 'abcd');
	printf("%x\n", '\'');
	printf("%d\n", '"');
	exit(0);
}

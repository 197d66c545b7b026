// -x argref: arguments that the program does not use are not an error.
// run: -q -x argref one two
BEGIN
{
	printf("%s\n", $$1);
	exit(0);
}

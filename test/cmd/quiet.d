// run: -q
/* -q: only what the program prints. */
BEGIN
{
	printf("hello\n");
	exit(0);
}

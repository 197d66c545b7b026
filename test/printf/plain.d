// Literal text, %% and escapes.
// run: -q
BEGIN
{
	printf("100%%\n");
	printf("a\tb\x21\n");
	printf("no newline");
	printf("\n");
	exit(0);
}

// run: -q
/* The first script: one line, then the end. */
BEGIN
{
	printf("Hello World!\n");
	exit(0);
}

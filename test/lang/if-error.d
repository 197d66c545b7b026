// An error in one part of an if suppresses the parts after it.
// run: -q
BEGIN
{
	if (1) {
		printf("before\n");
		trace(*(int *)0);
	}
	printf("after\n");
}

BEGIN
{
	printf("next clause\n");
	exit(0);
}

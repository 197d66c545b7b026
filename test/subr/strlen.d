// strlen(): bounded by strsize.
// run: -q
BEGIN
{
	printf("%d\n", strlen(""));
	printf("%d\n", strlen("abc"));
	printf("%d\n", strlen((x = "hello")));
	exit(0);
}

// strchr and strrchr: the rest of the string, or NULL.
// run: -q
BEGIN
{
	printf("[%s]\n", strchr("hello", 'l'));
	printf("[%s]\n", strrchr("hello", 'l'));
	printf("%d\n", strrchr("hello", 'z') == NULL);
	printf("%d\n", strchr("hello", 'z') == NULL);
	printf("%d\n", strchr("hello", 'h') == NULL);
	printf("[%s]\n", strrchr("hello", 'h'));
	printf("[%s]\n", strchr("hello", 0));
	exit(0);
}

// strstr(): from the first occurrence on, or NULL.
// run: -q
BEGIN
{
	printf("[%s]\n", strstr("hello world", "o w"));
	printf("[%s]\n", strstr("hello", ""));
	printf("%d\n", strstr("hello", "xyz") == NULL);
	printf("[%s]\n", strstr("aaab", "ab"));
	printf("%d\n", strstr("ab", "abc") == NULL);
	exit(0);
}

// Strings: %s as they are, %S with escapes.
// run: -q
BEGIN
{
	printf("[%s]\n", "abc");
	printf("[%5s]\n", "abc");
	printf("[%-5s]\n", "abc");
	printf("[%.2s]\n", "abc");
	printf("%S\n", "a\nb\t\"c\"\\");
	printf("%S\n", "\x01\xff");
	exit(0);
}

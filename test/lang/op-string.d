// Strings compare with all six operators; a NULL string is an empty one.
// run: -q
self string nul;

BEGIN
{
	printf("%d\n", "abc" == "abc");
	printf("%d\n", "abc" != "abd");
	printf("%d\n", "abc" < "abd");
	printf("%d\n", "abc" <= "abc");
	printf("%d\n", "b" > "abc");
	printf("%d\n", "a" >= "b");
	printf("%d\n", (s = "hello") == "hello");
	printf("%d\n", s < "help");
	printf("%d\n", "" == self->nul);
	printf("%d\n", self->nul < "a");
	exit(0);
}

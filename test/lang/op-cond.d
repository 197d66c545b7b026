// The conditional operator, and its nesting to the right.
// run: -q
BEGIN
{
	printf("%d\n", 1 ? 2 : 3);
	printf("%d\n", 0 ? 2 : 3);
	printf("%d\n", 0 ? 1 : 0 ? 2 : 3);
	printf("%s\n", (x = 5) > 3 ? "big" : "small");
	printf("%s\n", x > 7 ? "big" : "small");
	printf("%u\n", x == 5 ? -1 : 1U);
	printf("%d\n", x ? NULL : NULL);
	exit(0);
}

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
	/* the common type of both arms, also if the choice is made by the compiler */
	printf("%d %d\n", (x ? -1 : 1U) > 0, (1 ? -1 : 1U) > 0);
	printf("%d %d\n", sizeof (x ? 1 : 1L), sizeof (0 ? 1L : 1));
	/* where the arm that is not taken may be wrong */
	printf("%d\n", 0 ? nosuch + "text" : 7);
	exit(0);
}

// The comma operator evaluates both sides and gives the right one.
// run: -q
BEGIN
{
	printf("%d\n", (x = 3, x + 1));
	printf("%d\n", x);
	exit(0);
}

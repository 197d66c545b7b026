// &&, || and ^^; the first two evaluate their right side only if needed.
// run: -q
BEGIN
{
	printf("%d\n", 1 && 0);
	printf("%d\n", 1 && 2);
	printf("%d\n", 0 || 3);
	printf("%d\n", 0 || 0);
	printf("%d\n", 1 ^^ 1);
	printf("%d\n", 1 ^^ 0);
	printf("%d\n", !0);
	printf("%d\n", !7);
	printf("%d\n", (x = 0) && (y = 5));
	printf("%d\n", (z = 1) || (z = 9));
	printf("%d\n", z);
	printf("%d\n", x ^^ z);
	printf("%d\n", !x);
	printf("%d\n", x || z && x);
	exit(0);
}

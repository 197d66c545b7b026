// Assignment operators.
// run: -q
BEGIN
{
	printf("%d\n", x = 10);
	printf("%d\n", x += 5);
	printf("%d\n", x -= 3);
	printf("%d\n", x *= 2);
	printf("%d\n", x /= 5);
	printf("%d\n", x %= 3);
	printf("%d\n", x |= 6);
	printf("%d\n", x &= 5);
	printf("%d\n", x ^= 1);
	printf("%d\n", x <<= 4);
	printf("%d\n", x >>= 2);
	printf("%d\n", a = b = 7);
	printf("%d\n", a + b);
	exit(0);
}

// The same at run time, where nothing can be folded.
// run: -q
BEGIN
{
	printf("%d\n", (x = 7) / 2);
	printf("%d\n", (x = -7) / 2);
	printf("%d\n", x % 3);
	printf("%d\n", x * x);
	printf("%d\n", -x);
	printf("%d\n", ~x);
	printf("%d\n", (y = 2147483647) + 1);
	printf("%d\n", (z = 2147483647L) + 1);
	printf("%u\n", (u = 4294967295U) + 1);
	printf("%d\n", (w = 9223372036854775807LL) + 1);
	exit(0);
}

// Unsigned arithmetic wraps around at the width of its type, before anything wider sees the result;
// constants and variables alike. An int that overflows has the 64 bits of the register until it is
// stored or cast.
// run: -q
unsigned int u;
int i;
int64_t wide;
uint64_t uwide;

BEGIN
{
	u = 4294967295U;
	i = 2147483647;
	uwide = u + 1U;
	wide = -u;
	printf("%d %d\n", uwide, wide);
	uwide = 4294967295U + 1U;
	wide = -4294967295U;
	printf("%d %d\n", uwide, wide);
	printf("%d %d\n", (uint64_t)(u * u), (uint64_t)(4294967295U * 4294967295U));
	printf("%d %d\n", (uint64_t)~u, (uint64_t)~4294967295U);
	printf("%d %d\n", u + 1U ? 1 : 0, 4294967295U + 1U ? 1 : 0);
	printf("%d %d\n", !(u + 1U), u + 1U == 0);
	printf("%d %d\n", (uint64_t)(u << 4), (uint64_t)(4294967295U << 4));
	a[0] = 5;
	printf("%d\n", a[u + 1U]);
	@s = sum(u + 1U);
	printa("%@d\n", @s);

	wide = i + 1;
	printf("%d\n", wide);
	wide = 2147483647 + 1;
	printf("%d\n", wide);
	printf("%d %d\n", i + 1 > i, 2147483647 + 1 > 2147483647);
	wide = (int)(i + 1);
	printf("%d\n", wide);
	wide = (int)(2147483647 + 1);
	printf("%d\n", wide);
	printf("%d %d\n", i + 1, 2147483647 + 1);
}

BEGIN
/u + 1U/
{
	printf("not reached\n");
}

BEGIN
{
	exit(0);
}

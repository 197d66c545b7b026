// A bit-field narrower than an int is an int in arithmetic, even if it is unsigned.
// run: -q
struct s {
	unsigned int u : 3;
	int i : 3;
	unsigned int full : 32;
	uint64_t big : 40;
} x;

BEGIN
{
	x.u = 7;
	x.i = 7;
	x.full = 0xffffffff;
	x.big = 0x123456789ab;
	printf("%d %d %u %x\n", x.u, x.i, x.full, x.big);
	printf("%d %d\n", x.u - 8 < 0, -x.u < 0);
	printf("%d %d\n", x.full - 1 > 0, -1 < x.full);
	printf("%d %d\n", x.u / -2, x.u > x.i);
	x.u += 2;
	x.i -= 4;
	printf("%d %d\n", x.u, x.i);
	x.u = 6;
	x.u /= -2;
	printf("%d\n", x.u);
	exit(0);
}

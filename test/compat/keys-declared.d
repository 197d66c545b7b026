// A key of an array that is declared is cut to the type in the declaration; one of an array that is not, to its own type.
// The value of an inline with parameters is cut as well, for constants too.
// run: -q
int a[char];
int b[uint16_t, string];
self int c[int];
int wide[long];
int q;
unsigned char uc;
inline char low[int n] = n;
inline int one[int n] = 1;

BEGIN
{
	q = 300;
	a[q] = 5;
	printf("%d %d %d %d\n", a[44], a[300], a[q], a[45]);
	b[-1, "x"] = 6;
	b[65536, "y"] = 7;
	printf("%d %d %d %d\n", b[65535, "x"], b[q - 301, "x"], b[0, "y"], b[0, "x"]);
	self->c[0xffffffff] = 8;
	printf("%d %d\n", self->c[-1], self->c[0x1ffffffff]);
	wide[1L << 40] = 9;
	printf("%d %d\n", wide[1L << 40], wide[0]);
	d[1] = 1;
	d[(1L << 40) + 1] = 2;
	uc = 254;
	d[uc + (unsigned char)3] = 3;
	printf("%d %d %d\n", d[1], d[(1L << 40) + 1], d[257]);
	printf("%d %d %d %d\n", low[q], low[300], sizeof (low[300]), one[300]);
	exit(0);
}

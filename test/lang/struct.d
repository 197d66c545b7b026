// Structures, unions, enumerations, bit-fields: layout as in C.
// run: -q
struct point { char tag; int x; short y; };
struct outer { struct point p[2]; union { int i; char c[4]; } u; struct { long a; }; };
struct bits { unsigned a : 3; unsigned b : 5; int c : 9; unsigned long d : 40; };
enum colour { RED, GREEN = 5, BLUE, };
typedef struct outer outer_t;
outer_t o;
struct bits b;
enum colour c;

BEGIN
{
	printf("%d %d %d\n", sizeof (struct point), offsetof(struct point, x), offsetof(struct point, y));
	printf("%d %d %d\n", sizeof (outer_t), offsetof(outer_t, u), offsetof(outer_t, a));
	printf("%d\n", sizeof (struct bits));
	o.p[1].x = 42;
	o.p[1].y = -3;
	o.u.i = 0x01020304;
	o.a = 99;
	printf("%d %d %d %d %d\n", o.p[1].x, o.p[1].y, o.u.c[0], o.u.c[3], o.a);
	b.a = 9;
	b.b = 31;
	b.c = -7;
	b.d = 0x123456789a;
	printf("%d %d %d %x\n", b.a, b.b, b.c, b.d);
	c = BLUE;
	printf("%d %d %d\n", RED, GREEN, c);
	printf("%d %d\n", c == BLUE, c == GREEN);
	exit(0);
}

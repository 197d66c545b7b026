// Assigning a structure copies it.
// run: -q
struct s { int a; char b[6]; };
struct s x, y;

BEGIN
{
	x.a = 5;
	x.b[0] = 'h';
	x.b[1] = 'i';
	y = x;
	x.a = 6;
	printf("%d %d %s\n", x.a, y.a, stringof(y.b));
	self->z = y;
	y.a = 8;
	printf("%d %d\n", self->z.a, y.a);
	exit(0);
}

// C arrays as variables, also of two dimensions, and clause-local ones.
// run: -q
int a[4];
int m[2][3];
this char t[8];

BEGIN
{
	a[0] = 1;
	a[3] = a[0] + 2;
	m[1][2] = 7;
	this->t[1] = 'x';
	printf("%d %d %d %d\n", a[0], a[1], a[3], sizeof (a));
	printf("%d %d %d\n", m[1][2], m[0][2], sizeof (m[0]));
	printf("%c\n", this->t[1]);
	exit(0);
}

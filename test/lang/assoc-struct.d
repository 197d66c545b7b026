// Elements can be structs: assigned as a whole, then used member by member.
// run: -q
struct point { int x; int y; } p;
struct point points[string];
struct pair { int v[2]; } pair;
struct pair pairs[int];
self struct point mine;

BEGIN
{
	p.x = 3;
	p.y = 4;
	points["a"] = p;
	points["a"].y++;
	p.x = 0;
	printf("%d %d\n", points["a"].x, points["a"].y);
	pair.v[1] = 9;
	pairs[7] = pair;
	printf("%d %d\n", pairs[7].v[0], pairs[7].v[1]);
	self->mine = p;
	self->mine.x = 8;
	printf("%d %d\n", self->mine.x, self->mine.y);
	exit(0);
}

// Elements can be structs and arrays: assigned as a whole, then used member by member.
// run: -q
struct point { int x; int y; } p;
struct point points[string];
int pairs[int][2];
int pair[2];
self struct point mine;

BEGIN
{
	p.x = 3;
	p.y = 4;
	points["a"] = p;
	points["a"].y++;
	p.x = 0;
	printf("%d %d\n", points["a"].x, points["a"].y);
	pair[1] = 9;
	pairs[7] = pair;
	printf("%d %d\n", pairs[7][0], pairs[7][1]);
	self->mine = p;
	self->mine.x = 8;
	printf("%d %d\n", self->mine.x, self->mine.y);
	exit(0);
}

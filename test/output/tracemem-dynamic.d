// The third argument of tracemem shows less than was recorded.
// run: -q
char *p;

BEGIN
{
	p = alloca(20);
	bcopy("ABCDEFGHIJKLMNOPQR\n", p, 20);
	this->n = 3;
	tracemem(p, 20, this->n);
	exit(0);
}

// tracemem dumps memory.
// run: -q
char *p;

BEGIN
{
	p = alloca(20);
	bcopy("ABCDEFGHIJKLMNOPQR\n", p, 20);
	tracemem(p, 20);
	exit(0);
}

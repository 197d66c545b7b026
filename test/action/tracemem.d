// tracemem(): always a dump. A third argument shows fewer bytes, never more.
// run: -q
BEGIN
{
	this->p = (char *)alloca(20);
	bcopy("ABCDEFGHIJKLMNOPQRS", this->p, 20);
	tracemem(this->p, 20);
	tracemem(this->p, 20, 3);
	tracemem(this->p, 20, 100);
	tracemem(this->p, 20, -1);
	tracemem(this->p + 4, 1);
	exit(0);
}

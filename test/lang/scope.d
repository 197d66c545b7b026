// Global, thread-local and clause-local variables are different things.
// run: -q
BEGIN
{
	x = 1;
	self->x = 2;
	this->x = 3;
}

BEGIN
{
	printf("%d %d %d\n", x, self->x, this->x);
	self->x = 0;
	exit(0);
}

END
{
	printf("%d %d\n", x, self->x);
}

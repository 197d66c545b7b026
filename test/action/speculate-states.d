// Speculations: 0 is ignored, committing or discarding twice does no harm, a freed one is used again.
// run: -q
BEGIN
{
	self->s = speculation();
	printf("id %d\n", self->s);
}

BEGIN
{
	speculate(0);
	printf("nowhere\n");
}

BEGIN
{
	speculate(self->s);
	printf("first\n");
}

BEGIN
{
	commit(self->s);
}

BEGIN
{
	commit(self->s);
}

BEGIN
{
	discard(self->s);
}

BEGIN
{
	commit(0);
}

BEGIN
{
	self->s = speculation();
	printf("id %d again\n", self->s);
}

BEGIN
{
	speculate(self->s);
	printf("second\n");
}

BEGIN
{
	discard(self->s);
}

BEGIN
{
	exit(0);
}

// A speculate() alone records that the clause ran; the committed row shows where.
// run:
BEGIN
{
	self->s = speculation();
}

BEGIN
{
	speculate(self->s);
}

BEGIN
{
	speculate(self->s);
	trace(5);
}

BEGIN
{
	commit(self->s);
}

BEGIN
{
	exit(0);
}

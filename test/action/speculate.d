// Speculative data appears when it is committed, and never when it is discarded.
// run: -q -x nspec=2
BEGIN
{
	self->a = speculation();
	self->b = speculation();
}

BEGIN
{
	speculate(self->a);
	printf("kept %d\n", 1);
}

BEGIN
{
	speculate(self->b);
	printf("lost\n");
}

BEGIN
{
	printf("first\n");
}

BEGIN
{
	commit(self->a);
}

BEGIN
{
	discard(self->b);
	exit(0);
}

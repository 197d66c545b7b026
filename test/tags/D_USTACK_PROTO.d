// tag: D_USTACK_PROTO
BEGIN
{
	ustack(1, 2, 3);
}

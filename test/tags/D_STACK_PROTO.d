// tag: D_STACK_PROTO
BEGIN
{
	stack(1, 2);
}

// tag: D_STACK_PROTO 4
BEGIN
{
	stack(1, 2);
}

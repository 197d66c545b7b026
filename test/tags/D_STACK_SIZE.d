// tag: D_STACK_SIZE 4
BEGIN
{
	stack(0);
}

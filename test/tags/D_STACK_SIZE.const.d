// tag: D_STACK_SIZE
BEGIN
{
	stack(pid);
}

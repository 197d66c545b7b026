// tag: D_USTACK_STRSIZE
BEGIN
{
	ustack(1, -1);
}

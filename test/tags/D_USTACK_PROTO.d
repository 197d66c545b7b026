// tag: D_USTACK_PROTO 4
BEGIN
{
	ustack(1, 2, 3);
}

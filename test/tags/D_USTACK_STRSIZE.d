// tag: D_USTACK_STRSIZE 4
BEGIN
{
	ustack(1, -1);
}

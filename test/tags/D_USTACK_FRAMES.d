// tag: D_USTACK_FRAMES 4
BEGIN
{
	ustack(0);
}

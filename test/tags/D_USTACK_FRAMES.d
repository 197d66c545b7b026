// tag: D_USTACK_FRAMES
BEGIN
{
	ustack(0);
}

// tag: D_OP_VFPTR
void *p;
BEGIN
{
	trace(p + 1);
}

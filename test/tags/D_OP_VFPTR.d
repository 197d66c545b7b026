// tag: D_OP_VFPTR 5
void *p;
BEGIN
{
	trace(p + 1);
}

// tag: D_OP_VFPTR
void *p;
BEGIN
{
	p++;
}

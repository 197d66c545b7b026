// tag: D_OP_VFPTR 5
void *p;
BEGIN
{
	p += 1;
}

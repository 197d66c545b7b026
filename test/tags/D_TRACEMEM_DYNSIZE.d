// tag: D_TRACEMEM_DYNSIZE
BEGIN
{
	tracemem(arg0, 16, "x");
}

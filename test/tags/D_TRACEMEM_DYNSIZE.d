// tag: D_TRACEMEM_DYNSIZE 4
BEGIN
{
	tracemem(arg0, 16, "x");
}

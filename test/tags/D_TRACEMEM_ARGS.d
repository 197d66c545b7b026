// tag: D_TRACEMEM_ARGS 4
BEGIN
{
	tracemem(arg0, 4, 4, 4);
}

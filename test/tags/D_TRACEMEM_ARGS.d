// tag: D_TRACEMEM_ARGS
BEGIN
{
	tracemem(arg0);
}

// tag: D_TRACEMEM_SIZE
BEGIN
{
	tracemem(arg0, pid);
}

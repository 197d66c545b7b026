// tag: D_TRACEMEM_SIZE 4
BEGIN
{
	tracemem(arg0, pid);
}

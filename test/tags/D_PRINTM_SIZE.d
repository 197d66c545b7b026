// tag: D_PRINTM_SIZE
BEGIN
{
	printm(pid, memref((void *)0, 8));
}

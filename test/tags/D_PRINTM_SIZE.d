// tag: D_PRINTM_SIZE 4
BEGIN
{
	printm(pid, memref((void *)0, 8));
}

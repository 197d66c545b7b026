// tag: D_OP_WRITE
BEGIN
{
	pid = 1;
}

// tag: D_OP_WRITE
BEGIN
{
	timestamp++;
}

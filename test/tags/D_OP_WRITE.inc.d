// tag: D_OP_WRITE 4
BEGIN
{
	timestamp++;
}

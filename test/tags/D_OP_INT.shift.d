// tag: D_OP_INT
BEGIN
{
	trace("x" << 1);
}

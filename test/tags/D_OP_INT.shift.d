// tag: D_OP_INT 4
BEGIN
{
	trace("x" << 1);
}

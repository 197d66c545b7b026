// tag: D_OP_SCALAR 4
BEGIN
{
	trace("x" && 1);
}

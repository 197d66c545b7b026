// tag: D_OP_SCALAR
BEGIN
{
	trace("x" && 1);
}

// tag: D_OP_SCALAR
BEGIN
{
	trace(!"x");
}

// tag: D_OP_ARITH
BEGIN
{
	trace(5 * "x");
}

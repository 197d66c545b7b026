// tag: D_OP_ARITH
BEGIN
{
	trace(-"x");
}

// tag: D_OP_ARITH 4
BEGIN
{
	trace(-"x");
}

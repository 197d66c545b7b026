// tag: D_CG_EXPR
BEGIN
{
	x = trace(1);
}

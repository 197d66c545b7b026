// tag: D_CG_EXPR 4
BEGIN
{
	x = trace(1);
}

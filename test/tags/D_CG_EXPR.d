// tag: D_CG_EXPR 4
BEGIN
{
	(void)trace(1);
}

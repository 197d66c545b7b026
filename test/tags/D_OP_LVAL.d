// tag: D_OP_LVAL
BEGIN
{
	5 = 1;
}

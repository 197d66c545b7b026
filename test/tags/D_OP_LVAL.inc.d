// tag: D_OP_LVAL
BEGIN
{
	(1 + 2)++;
}

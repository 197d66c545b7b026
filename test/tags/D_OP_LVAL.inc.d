// tag: D_OP_LVAL 4
BEGIN
{
	(1 + 2)++;
}

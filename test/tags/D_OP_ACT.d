// tag: D_OP_ACT
BEGIN
{
	1 ? trace(1) : trace(2);
}

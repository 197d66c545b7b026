// tag: D_OP_ACT 4
BEGIN
{
	1 ? trace(1) : trace(2);
}

// tag: D_OP_ACT 4
BEGIN
{
	pid ? trace(1) : trace(2);
}

// tag: D_OP_ACT
BEGIN
{
	trace(1), trace(2);
}

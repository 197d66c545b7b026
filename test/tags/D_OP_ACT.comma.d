// tag: D_OP_ACT 4
BEGIN
{
	trace(1), trace(2);
}

// tag: D_OP_INCOMPAT
BEGIN
{
	trace(1 ? "a" : 5);
}

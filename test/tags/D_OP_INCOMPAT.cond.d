// tag: D_OP_INCOMPAT 4
BEGIN
{
	trace(1 ? "a" : 5);
}

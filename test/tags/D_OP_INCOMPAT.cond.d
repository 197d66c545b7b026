// tag: D_OP_INCOMPAT 4
BEGIN
{
	trace(pid ? "a" : 5);
}

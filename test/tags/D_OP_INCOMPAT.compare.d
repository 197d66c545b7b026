// tag: D_OP_INCOMPAT 4
BEGIN
{
	trace("a" == 5);
}

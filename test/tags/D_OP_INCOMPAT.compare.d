// tag: D_OP_INCOMPAT
BEGIN
{
	trace("a" == 5);
}

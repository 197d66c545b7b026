// tag: D_SYNTAX 4
BEGIN
{
	trace(1;
}

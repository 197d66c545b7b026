// tag: D_SYNTAX
BEGIN
{
	trace(1;
}

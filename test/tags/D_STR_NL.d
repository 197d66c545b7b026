// tag: D_STR_NL
BEGIN
{
	trace("one
two");
}

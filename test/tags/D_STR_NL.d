// tag: D_STR_NL 4
BEGIN
{
	trace("one
two");
}

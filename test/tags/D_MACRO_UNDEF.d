// tag: D_MACRO_UNDEF 4
BEGIN
{
	trace($1);
}

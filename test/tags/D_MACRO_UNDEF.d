// tag: D_MACRO_UNDEF
BEGIN
{
	trace($1);
}

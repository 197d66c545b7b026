// tag: D_MACRO_UNDEF
BEGIN
{
	trace($nosuch);
}

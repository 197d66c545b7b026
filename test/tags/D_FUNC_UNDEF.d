// tag: D_FUNC_UNDEF
BEGIN
{
	nosuchfunction(1);
}

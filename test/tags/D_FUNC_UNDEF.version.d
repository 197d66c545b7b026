// strstr() came with version 1.1.
// tag: D_FUNC_UNDEF 6
// run: -x version=1.0
BEGIN
{
	trace(strstr("abc", "b"));
}

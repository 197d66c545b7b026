// tag: D_FREOPEN_INVALID
// run: -w
BEGIN
{
	freopen(".");
}

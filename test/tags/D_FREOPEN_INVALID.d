// tag: D_FREOPEN_INVALID 5
// run: -w
BEGIN
{
	freopen(".");
}

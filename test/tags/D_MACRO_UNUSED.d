// tag: D_MACRO_UNUSED
// run: 17
BEGIN
{
	trace(1);
}

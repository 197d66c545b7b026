// tag: D_OFFSETOF_TYPE
BEGIN
{
	trace(offsetof(int, x));
}

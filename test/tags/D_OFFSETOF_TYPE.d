// tag: D_OFFSETOF_TYPE 4
BEGIN
{
	trace(offsetof(int, x));
}

// tag: D_DIV_ZERO
BEGIN
{
	trace(1 / 0);
}

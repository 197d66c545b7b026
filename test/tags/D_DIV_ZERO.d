// tag: D_DIV_ZERO 4
BEGIN
{
	trace(1 / 0);
}

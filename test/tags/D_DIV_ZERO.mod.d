// tag: D_DIV_ZERO
BEGIN
{
	x = 3; trace(x % 0);
}

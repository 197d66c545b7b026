// tag: D_DIV_ZERO 4
BEGIN
{
	x = 3; trace(x % 0);
}

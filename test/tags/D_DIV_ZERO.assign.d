// tag: D_DIV_ZERO
BEGIN
{
	x = 3; x /= 0;
}

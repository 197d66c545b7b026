// tag: D_FUNC_IDKIND
BEGIN
{
	x = 1; trace(x(1));
}

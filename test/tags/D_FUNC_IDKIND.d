// tag: D_FUNC_IDKIND 4
BEGIN
{
	x = 1; trace(x(1));
}

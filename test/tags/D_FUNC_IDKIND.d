// tag: D_FUNC_IDKIND 5
int x;
BEGIN
{
	trace(x(1));
}

// tag: D_IDENT_UNDEF 2
inline int factorial[int n] = n <= 1 ? 1 : n * factorial[n - 1];
BEGIN
{
	trace(factorial[3]);
}

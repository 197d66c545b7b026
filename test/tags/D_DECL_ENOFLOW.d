// tag: D_DECL_ENOFLOW
enum e { A = 0x7fffffff, B };
BEGIN
{
	trace(1);
}

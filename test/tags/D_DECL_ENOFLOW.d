// tag: D_DECL_ENOFLOW 2
enum e { A = 0x7fffffff, B };
BEGIN
{
	trace(1);
}

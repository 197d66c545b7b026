// tag: D_DECL_ENOFLOW 2
enum e { A = 0x123456789 };
BEGIN
{
	trace(1);
}

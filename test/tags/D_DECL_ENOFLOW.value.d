// tag: D_DECL_ENOFLOW
enum e { A = 0x123456789 };
BEGIN
{
	trace(1);
}

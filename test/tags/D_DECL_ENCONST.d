// tag: D_DECL_ENCONST
int y;
enum e { A = y };
BEGIN
{
	trace(1);
}

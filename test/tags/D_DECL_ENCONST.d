// tag: D_DECL_ENCONST 3
int y;
enum e { A = y };
BEGIN
{
	trace(1);
}

// tag: D_IDENT_AMBIG
enum e { RED, GREEN } c;
int GREEN2;
inline int RED = 7;
BEGIN
{
	trace(c == RED);
}

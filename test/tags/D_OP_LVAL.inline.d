// The line is that of the use, not that of the definition.
// tag: D_OP_LVAL 6
inline int x = 3;
BEGIN
{
	x = 4;
}

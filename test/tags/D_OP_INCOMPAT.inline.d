// tag: D_OP_INCOMPAT 2
inline int x = "a string";
BEGIN
{
	trace(1);
}

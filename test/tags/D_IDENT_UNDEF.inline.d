// An inline is checked where it is defined, used or not.
// tag: D_IDENT_UNDEF 3
inline int x = nosuchvariable;
BEGIN
{
	trace(1);
}

// tag: D_DECL_INCOMPLETE
struct nosuchstruct x;
BEGIN
{
	trace(1);
}

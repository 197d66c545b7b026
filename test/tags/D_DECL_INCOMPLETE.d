// tag: D_DECL_INCOMPLETE 2
struct nosuchstruct x;
BEGIN
{
	trace(1);
}

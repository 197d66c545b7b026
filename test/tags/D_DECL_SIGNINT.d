// tag: D_DECL_SIGNINT 2
unsigned string x;
BEGIN
{
	trace(1);
}

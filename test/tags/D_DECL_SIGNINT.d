// tag: D_DECL_SIGNINT
unsigned string x;
BEGIN
{
	trace(1);
}

// tag: D_DECL_COMBO
int char x;
BEGIN
{
	trace(1);
}

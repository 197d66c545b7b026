// tag: D_DECL_IDRED
int x;
string x;
BEGIN
{
	trace(1);
}

// tag: D_DECL_IDRED 3
int x;
string x;
BEGIN
{
	trace(1);
}

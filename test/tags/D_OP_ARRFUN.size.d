// Arrays of the same type can be copied; these are not.
// tag: D_OP_ARRFUN 8
int a[4];
int b[4];
int c[5];
BEGIN
{
	a = b; a = c;
}

// tag: D_OP_ARRFUN 5
this int a[4];
BEGIN
{
	this->a++;
}

// tag: D_OP_PTR
BEGIN
{
	x = 1; trace(x->y);
}

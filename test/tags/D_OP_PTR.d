// tag: D_OP_PTR 4
BEGIN
{
	x = 1; trace(x->y);
}

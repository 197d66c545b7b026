// tag: D_OP_SOU 4
BEGIN
{
	x = 1; trace(x.y);
}

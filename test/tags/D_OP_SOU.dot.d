// tag: D_OP_SOU
BEGIN
{
	x = 1; trace(x.y);
}

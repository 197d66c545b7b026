// tag: D_OP_INCOMPAT
BEGIN
{
	x = 1; x = "string";
}

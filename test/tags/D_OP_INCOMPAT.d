// tag: D_OP_INCOMPAT 4
BEGIN
{
	x = 1; x = "string";
}

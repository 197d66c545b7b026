// tag: D_OP_INT 4
BEGIN
{
	trace(5 % "x");
}

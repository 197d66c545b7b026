// tag: D_OP_INT
BEGIN
{
	trace(5 % "x");
}

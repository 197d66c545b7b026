// tag: D_PRINTM_ADDR
BEGIN
{
	printm(16, "x");
}

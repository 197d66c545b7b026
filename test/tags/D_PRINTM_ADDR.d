// tag: D_PRINTM_ADDR 4
BEGIN
{
	printm(16, "x");
}

// tag: D_SYNTAX
BEGIN
{
	while (1) trace(1);
}

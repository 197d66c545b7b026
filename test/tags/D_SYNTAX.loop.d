// tag: D_SYNTAX 4
BEGIN
{
	while (1) trace(1);
}

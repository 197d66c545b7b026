// tag: D_CLEAR_PROTO
BEGIN
{
	clear();
}

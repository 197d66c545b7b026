// tag: D_CLEAR_PROTO 4
BEGIN
{
	clear();
}

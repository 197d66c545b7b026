// tag: D_XLATE_SOU
BEGIN
{
	trace(xlate < int > (1));
}

// tag: D_XLATE_SOU 2
translator int < int n > { a = n; };
BEGIN
{
	trace(1);
}

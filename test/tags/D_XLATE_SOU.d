// tag: D_XLATE_SOU
translator int < int n > { a = n; };
BEGIN
{
	trace(1);
}

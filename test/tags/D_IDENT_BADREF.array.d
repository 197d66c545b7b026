// tag: D_IDENT_BADREF
BEGIN
{
	a[1] = 1; trace(a);
}

// tag: D_IDENT_BADREF 4
BEGIN
{
	a[1] = 1; trace(a);
}

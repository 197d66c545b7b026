// tag: D_IDENT_BADREF
BEGIN
{
	x = 1; trace(x[3]);
}

// tag: D_IDENT_BADREF 4
BEGIN
{
	x = 1; trace(x[3]);
}

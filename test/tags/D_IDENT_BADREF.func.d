// tag: D_IDENT_BADREF 4
BEGIN
{
	trace(strlen);
}

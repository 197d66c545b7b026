// tag: D_IDENT_BADREF
BEGIN
{
	trace(strlen);
}

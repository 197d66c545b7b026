// tag: D_NORMALIZE_PROTO 4
BEGIN
{
	@a = count(); normalize(@a);
}

// tag: D_NORMALIZE_PROTO
BEGIN
{
	@a = count(); normalize(@a);
}

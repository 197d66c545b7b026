// tag: D_AGG_REDEF
BEGIN
{
	@a = count(); @a = sum(1);
}

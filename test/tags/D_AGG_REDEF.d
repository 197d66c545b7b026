// tag: D_AGG_REDEF 4
BEGIN
{
	@a = count(); @a = sum(1);
}

// tag: D_AGG_SPEC 4
BEGIN
{
	speculate(1); @a = count();
}

// tag: D_AGG_SPEC
BEGIN
{
	speculate(1); @a = count();
}

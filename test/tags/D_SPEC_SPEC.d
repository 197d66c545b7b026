// tag: D_SPEC_SPEC 4
BEGIN
{
	speculate(1); speculate(2);
}

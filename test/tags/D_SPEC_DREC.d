// tag: D_SPEC_DREC 4
BEGIN
{
	trace(1); speculate(1);
}

// tag: D_SPEC_DREC
BEGIN
{
	trace(1); speculate(1);
}

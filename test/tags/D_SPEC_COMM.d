// tag: D_SPEC_COMM
BEGIN
{
	commit(1); speculate(1);
}

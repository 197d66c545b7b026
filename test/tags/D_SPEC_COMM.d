// tag: D_SPEC_COMM 4
BEGIN
{
	commit(1); speculate(1);
}

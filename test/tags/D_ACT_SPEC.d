// tag: D_ACT_SPEC
// run: -w
BEGIN
{
	speculate(1); raise(1);
}

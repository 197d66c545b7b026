// tag: D_ACT_SPEC 5
// run: -w
BEGIN
{
	speculate(1); raise(1);
}

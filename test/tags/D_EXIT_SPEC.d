// tag: D_EXIT_SPEC 4
BEGIN
{
	speculate(1); exit(0);
}

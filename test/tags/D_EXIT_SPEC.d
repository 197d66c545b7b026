// tag: D_EXIT_SPEC
BEGIN
{
	speculate(1); exit(0);
}

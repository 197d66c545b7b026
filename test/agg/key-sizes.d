// Integer keys are printed by their size.
// run: -q
BEGIN
{
	@[(char)1, (short)2, 3, 4L] = count();
	exit(0);
}

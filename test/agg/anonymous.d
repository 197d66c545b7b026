// A bare @ is also an aggregation.
// run: -q
BEGIN
{
	@ = count();
	@ = count();
	printa("%@d\n", @);
	exit(0);
}

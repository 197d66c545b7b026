// Conversions take arguments in order.
// run: -q
BEGIN
{
	printf("%s %d %s %x\n", "one", 2, "three", 4);
	exit(0);
}

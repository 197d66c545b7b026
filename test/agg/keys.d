// Keys of any mix; printed in order of value, then of key.
// run: -q
BEGIN
{
	@["b", 1] = sum(30);
	@["a", 2] = sum(10);
	@["a", 1] = sum(10);
	@["c", 5] = sum(20);
	exit(0);
}

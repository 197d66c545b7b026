// -x aggsortkey sorts by key, aggsortrev reverses the order.
// run: -q -x aggsortkey -x aggsortrev
BEGIN
{
	@["b", 1] = sum(30);
	@["a", 2] = sum(10);
	@["a", 1] = sum(10);
	exit(0);
}

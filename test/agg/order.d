// At the end: by aggregation, then by value, then by key.
// run: -q
BEGIN
{
	@second["b"] = sum(2); @second["c"] = sum(1); @second["a"] = sum(2);
	@first["x"] = sum(9);
	@second["d"] = sum(-1);
	exit(0);
}

// A precision of 0 is no precision.
// run: -q
BEGIN
{
	@a["key"] = count();
	printf("[%.0s] [%0.0s] [%.*s] [%.*s] [%.2s]\n", "abc", "abc", 0, "abc", -3, "abc", "abc");
	printf("[%.0d] [%5.0d] [%.0x] [%.3d]\n", 0, 7, 255, 7);
	printa("[%.0s %@.0d]\n", @a);
	exit(0);
}

// A position that does not exist counts as 0.
// run: -q -x aggsortpos=3 -x aggsortkey -x aggsortkeypos=2
BEGIN
{
	@a["x", 2] = sum(1); @b["x", 2] = sum(9);
	@a["y", 1] = sum(2); @b["y", 1] = sum(8);
	printa("%s %d %@d %@d\n", @a, @b);
	setopt("aggsortkey", "0");
	exit(0);
}
END
{
	printa("%s %d %@d %@d\n", @a, @b);
}

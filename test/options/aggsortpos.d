// -x aggsortpos: which of several aggregations in one printa() gives the order.
// run: -q -x aggsortpos=1
BEGIN
{
	@a["x"] = sum(1);
	@b["x"] = sum(30);
	@a["y"] = sum(2);
	@b["y"] = sum(10);
	@a["z"] = sum(3);
	@b["z"] = sum(20);
	printa("%s %@d %@d\n", @a, @b);
	setopt("aggsortpos", "0");
	printa("%s %@d %@d\n", @a, @b);
	exit(0);
}

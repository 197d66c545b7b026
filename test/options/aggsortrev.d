// -x aggsortrev: largest first; at the end the last aggregation also comes first.
// run: -q -x aggsortrev
BEGIN
{
	@a["x"] = sum(1);
	@a["y"] = sum(3);
	@a["z"] = sum(2);
	@b["last"] = count();
	exit(0);
}

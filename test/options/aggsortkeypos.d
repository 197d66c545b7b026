// -x aggsortkeypos: which key comes first when sorting by key; the others follow, wrapping around.
// run: -q -x aggsortkey -x aggsortkeypos=1
BEGIN
{
	@["a", 3, "p"] = sum(1);
	@["b", 1, "q"] = sum(2);
	@["a", 1, "q"] = sum(3);
	@["c", 1, "p"] = sum(4);
	@["a", 2, "q"] = sum(5);
	printa("%s %d %s\n", @);
	setopt("aggsortkeypos", "2");
	printa("-- %s %d %s\n", @);
	exit(0);
}

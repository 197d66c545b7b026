// -x aggsortkey: by key rather than by value. Integer keys compare as unsigned numbers.
// run: -q -x aggsortkey
BEGIN
{
	@i[2] = sum(1);
	@i[-1] = sum(2);
	@i[0] = sum(3);
	@i[1] = sum(0);
	printa("%d\n", @i);
	@c[(char)-2] = sum(1);
	@c[(char)3] = sum(2);
	printa("%d\n", @c);
	@s["b"] = sum(1);
	@s["a"] = sum(9);
	@s["aa"] = sum(5);
	@s[""] = sum(5);
	printa("[%s]\n", @s);
	exit(0);
}

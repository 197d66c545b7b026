// A string plus an integer is the string from there on; sizeof of a literal counts its characters.
// run: -q
BEGIN
{
	s = "abcdef";
	x = s + 1;
	printf("%s %s %s %d %d\n", s + 2, x, 3 + s, strlen(x), sizeof ("abcd"));
	trace("abcd" + 1);
	printf(" %d %d\n", (s + 3) - s > 0, "xyz" + 1 == "yz");
	exit(0);
}

// Keys in order, as many as the format takes; widths can also come from keys.
// run: -q
BEGIN
{
	@["name", 6, 'c', 0x10LL] = count();
	printa("none\n", @);
	printa("%s\n", @);
	printa("[%8s] [%-4d] %c %x: %@d\n", @);
	printa("%@d of %s\n", @);
	@w[6, "abc"] = count();
	printa("[%*s]\n", @w);
	exit(0);
}

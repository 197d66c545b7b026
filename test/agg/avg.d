// avg(): sum divided by count, cut towards zero; sorted by the exact value.
// run: -q
BEGIN
{
	@a["7/2"] = avg(3); @a["7/2"] = avg(4);
	@a["-7/2"] = avg(-3); @a["-7/2"] = avg(-4);
	@a["10/3"] = avg(3); @a["10/3"] = avg(3); @a["10/3"] = avg(4);
	@a["3"] = avg(3);
	printa("%-5s %@d\n", @a);
	exit(0);
}

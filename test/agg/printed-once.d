// What a printa() has printed is not printed at the end; nor is what trunc() emptied.
// run: -q
BEGIN
{
	@a = sum(1);
	@b = sum(2);
	@c["k"] = sum(3);
	printa("a %@d\n", @a);
	trunc(@c);
	exit(0);
}

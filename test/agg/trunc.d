// trunc(): without a number all keys go; n keeps the n largest, -n the n smallest.
// run: -q
BEGIN
{
	@a["p"] = sum(1); @a["q"] = sum(2); @a["r"] = sum(3); @a["s"] = sum(4);
	trunc(@a, 10);
	printa("%s", @a); printf(" |");
	trunc(@a, 3);
	printa("%s", @a); printf(" |");
	trunc(@a, -2);
	printa("%s", @a); printf(" |");
	trunc(@a, 0);
	printa("%s", @a); printf(" |\n");
	@b["left over"] = count();
	trunc(@b);
	exit(0);
}

// -x iregs: with three registers values wait in memory, and the results are the same.
// run: -q -x iregs=3
BEGIN
{
	x = 2;
	printf("%d\n", ((x + 1) * (x + 2)) + ((x + 3) * (x + 4)) - ((x + 5) * ((x + 6) / (x + 7 - (x + 1)))));
	exit(0);
}

// A clause runs when its predicate is not zero; division inside needs care.
// run: -q
BEGIN
/0/
{
	printf("never\n");
}

BEGIN
/10 / 5 == 2/
{
	printf("division\n");
}

BEGIN
/ /* comment */ 1 /
{
	printf("one\n");
}

BEGIN
/x == 3/
{
	x = 3;
	printf("not yet\n");
}

BEGIN
{
	exit(0);
}

// A deep expression does not run out of registers.
// run: -q
BEGIN
{
	a = 1;
	printf("%d\n", a + (a + (a + (a + (a + (a + (a + (a + (a + (a + (a + (a + (a + (a + (a + a)))))))))))))));
	printf("%d\n", ((a + 1) * (a + 2) + (a + 3) * (a + 4)) * ((a + 5) * (a + 6) + (a + 7) * (a + (8 - a) * (a + 9))));
	exit(0);
}

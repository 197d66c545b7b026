// %D is a duration: a number of nanoseconds of any integer type; the precision is that of the unit.
// run: -q
BEGIN
{
	printf("[%D] [%D] [%D] [%D] [%D]\n", 0, 950, 12345, 1234567, 3210987654);
	printf("[%D] [%D] [%D]\n", 125 * 1000000000LL, 3723 * 1000000000LL, 273900 * 1000000000LL);
	printf("[%12D] [%-12D] [%.1D] [%+D] [%D]\n", 1500, 1500, 1540, 1500, -1500);
	printf("[%D] [%D]\n", (unsigned char)255, 0xffffffffffffffff);
	@a = avg(2000); @a = avg(4000); @m = max(7000000);
	printa("avg %@D max %@8.1D\n", @a, @m);
	exit(0);
}

// %Y and %T print nanoseconds since 1970 as a date.
// run: -q
BEGIN
{
	printf("%Y\n", (uint64_t)0);
	printf("%Y\n", 1700000000000000000);
	printf("[%-25Y]\n", 1700000000000000000);
	exit(0);
}

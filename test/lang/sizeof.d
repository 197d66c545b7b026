// sizeof types and expressions.
// run: -q
BEGIN
{
	printf("%d\n", sizeof (char));
	printf("%d\n", sizeof (short));
	printf("%d\n", sizeof (int));
	printf("%d\n", sizeof (long));
	printf("%d\n", sizeof (long long));
	printf("%d\n", sizeof (void *));
	printf("%d\n", sizeof (string));
	printf("%d\n", sizeof (uint64_t));
	printf("%d\n", sizeof (int [10]));
	printf("%d\n", sizeof (1 + 1L));
	printf("%d\n", sizeof (pid));
	printf("%d\n", sizeof (float));
	printf("%d\n", sizeof (double));
	printf("%d\n", sizeof ('a'));
	printf("%d\n", sizeof (timestamp));
	exit(0);
}

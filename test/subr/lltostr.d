// lltostr(): an integer as text, in bases 2 to 36.
// run: -q
BEGIN
{
	printf("%s\n", lltostr(0));
	printf("%s\n", lltostr(-42));
	printf("%s\n", lltostr(9223372036854775807));
	printf("%s\n", lltostr(-9223372036854775807 - 1));
	printf("%s\n", lltostr(255, 16));
	printf("%s\n", lltostr(8, 8));
	printf("%s\n", lltostr(5, 2));
	printf("%s\n", lltostr(35, 36));
	printf("%s\n", lltostr(-1, 16));
	exit(0);
}

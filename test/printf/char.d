// Characters.
// run: -q
BEGIN
{
	printf("%c\n", 'a');
	printf("%C\n", '\n');
	printf("%c\n", 65);
	printf("[%3c]\n", 'a');
	exit(0);
}

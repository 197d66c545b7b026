// %b is an enum by name: one enumerator, or those whose bits are set and the rest in hexadecimal.
// run: -q
enum mode { NONE, READ, WRITE, BOTH, EXEC, SYNC = 16 };
BEGIN
{
	printf("[%b] [%b] [%b] [%b]\n", (enum mode)0, (enum mode)2, (enum mode)3, (enum mode)5);
	printf("[%b] [%b] [%20b] [%-20b]\n", (enum mode)64, (enum mode)81, (enum mode)21, (enum mode)21);
	@[(enum mode)6] = count();
	printa("%b %@d\n", @);
	exit(0);
}

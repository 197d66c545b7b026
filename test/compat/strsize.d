// run: -q -x strsize=4
string g, arr[string];
BEGIN
{
	g = "abcdef";
	this->s = "ghijkl";
	self->t = "mnopqr";
	arr["stuvwx"] = "yzABCD";
	printf("[%s] [%s] [%s] [%s] [%s]\n", g, this->s, self->t, arr["stuv"], "literal");
	printf("%d %d %s\n", strlen(g), strlen("longer than that"), lltostr(123456));
	printf("%d %d %d\n", g == "abcd", g == "abcdXX", "abcdef" == "abcdeg");
	printf("[%s] [%s] [%s]\n", strtok("ab:d", ":"), strtok(NULL, ":"), strtok("wxyz", "___z"));
	printf("[%s] [%s]\n", substr("0123456", 1), strjoin("ab", "cd"));
	@["keys of some length"] = count();
	@["keys of other length"] = count();
	printa("[%s] %@d\n", @);
	trace("abcdef");
	printf("\n%d %d\n", sizeof (g), sizeof (string));
}
BEGIN { trace(strjoin("abc", "de")); }
BEGIN { exit(0); }
ERROR { printf("fault %d\n", arg4); }

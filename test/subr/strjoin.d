// strjoin(): two strings as one.
// run: -q
BEGIN
{
	printf("[%s]\n", strjoin("ab", "cd"));
	printf("[%s]\n", strjoin("", "x"));
	printf("[%s]\n", strjoin("x", ""));
	printf("[%s]\n", strjoin(strjoin("a", "b"), strjoin("c", "d")));
	exit(0);
}

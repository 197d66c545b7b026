// basename and dirname, as POSIX has them.
// run: -q
BEGIN
{
	printf("%s\n", basename("/usr/lib"));
	printf("%s\n", basename("/usr/"));
	printf("%s\n", basename("usr"));
	printf("%s\n", basename("/"));
	printf("%s\n", basename(""));
	printf("%s\n", basename("//"));
	printf("%s\n", dirname("/usr/lib"));
	printf("%s\n", dirname("/usr/"));
	printf("%s\n", dirname("usr"));
	printf("%s\n", dirname("/"));
	printf("%s\n", dirname(""));
	printf("%s\n", dirname("a/b/c"));
	printf("%s\n", dirname("a//b"));
	exit(0);
}

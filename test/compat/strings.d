// Results of string functions at their limits.
// run: -q
uint8_t *a;
BEGIN
{
	printf("%s %s %s %s\n", lltostr(0, 16), lltostr(0, 8), lltostr(255, 16), lltostr(8, 8));
	printf("%s", strtok("k=v;w", "="));
	printf(" %s", strtok(NULL, ";"));
	printf(" %s\n", strtok(NULL, "="));
	printf("%s", strtok("a,b", ","));
	printf(" %s", strtok(NULL, ","));
	printf(" %s\n", strtok(NULL, ",") == NULL ? "none" : "more");
	printf("%s %s %s %s %s\n", cleanpath("/a/.."), cleanpath("/a/b/.."), cleanpath("/.."), cleanpath("/a/b/../c"), cleanpath("/a/..b"));
	exit(0);
}

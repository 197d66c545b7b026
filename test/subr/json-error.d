// json() needs the most calls inside each other of all subroutines: in ERROR, in its loops, in functions.
// run: -q
inline int deep(string j, int n)
{
	int a = strtoll(json(j, "a.b")), b = strtoll(json(j, "a.c[1]"));

	if (n > 2)
		return a * n + b * (n - 1) + strlen(j) % (n + 1);
	return (a ^ b) + n * 3 - (a & b);
}
BEGIN { trace(*(int *)0); }
ERROR
{
	for (this->i = 0; this->i < 3; this->i++)
		printf("%s %d\n", json("{\"a\":{\"b\":7,\"c\":\"x\\u00e9y\"}}", this->i == 1 ? "a.b" : "a.c"),
		       deep("{\"a\":{\"b\":7,\"c\":[1,9]}}", this->i));
	printf("%s\n", json("{\"a\":\"\\u00G0\"}", "a") == NULL ? "refused" : "accepted");
	printf("%s\n", json("{\"a\":\"\\u00\"}", "a") == NULL ? "refused" : "accepted");
	printf("%s\n", json("{\"a\":\"\\u00Af\\\\\",\"b\":[1,\"\\u1234\"]}", "b[1]"));
	exit(0);
}

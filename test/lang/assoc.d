// Associative arrays: any mix of keys; assigning 0 frees an element.
// run: -q
int declared[string, int];

BEGIN
{
	a[1, "x"] = 10;
	a[1, "y"] = 20;
	a[2, "x"] = 30;
	printf("%d %d %d %d\n", a[1, "x"], a[1, "y"], a[2, "x"], a[2, "y"]);
	a[1, "x"] = 0;
	printf("%d %d\n", a[1, "x"], a[1, "y"]);
	a[1, "y"] += 5;
	printf("%d\n", a[1, "y"]);
	s["k"] = "value";
	printf("[%s] %d\n", s["k"], s["absent"] == NULL);
	s["k"] = 0;
	printf("%d\n", s["k"] == NULL);
	declared["a", 1] = 7;
	printf("%d %d\n", declared["a", 1], declared["a", 2]);
	self->a[pid] = 3;
	printf("%d %d\n", self->a[pid], self->a[pid + 1]);
	exit(0);
}

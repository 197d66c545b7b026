// run: -q
struct pair { int n; string s; long z; } a[int];
self struct pair b[string];
string names[int, int];
BEGIN
{
	a[7].n = 1;
	a[7].s = "x";
	a[8].n++;
	a[8].n += 4;
	printf("[%d %s %d] [%d %s %d] [%d %s]\n", a[7].n, a[7].s, a[7].z, a[8].n, a[8].s, a[8].z, a[9].n, a[9].s);
	self->b["k"].z = 77;
	printf("%d %d %s|\n", self->b["k"].z, self->b["other"].n, self->b["k"].s);
	printf("%d %d %d %d\n", strlen(names[1, 2]), names[1, 2] == NULL, names[3, 4] == "", names[3, 4] != NULL);
	names[1, 2] = "one two";
	printf("%s %d\n", names[1, 2], names[1, 2] == NULL);
	names[1, 2] = 0;
	printf("[%s] %d\n", names[1, 2], names[1, 2] == NULL);
	printf("[%s]\n", strjoin(names[5, 5], "tail"));
	a[7] = 0;
	printf("%d [%s]\n", a[7].n, a[7].s);
	exit(0);
}

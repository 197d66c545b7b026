// Keys: up to eight, of any type that has a value; structs count byte by byte, integers by value,
// strings by their text.
// run: -q
struct key { int a; char b[4]; } k1, k2;
self int per_thread[string, int];

BEGIN
{
	k1.a = k2.a = 1;
	k1.b[0] = k2.b[0] = 'x';
	m[k1] = 7;
	printf("%d ", m[k2]);
	k2.b[3] = 1;
	printf("%d\n", m[k2]);

	n[-1] = 1;
	n[(char)-1]++;
	n[(int64_t)-1]++;
	printf("%d %d\n", n[-1], n[4294967295]);

	s[""] = 1;
	s["a"] = 2;
	s["ab"] = 3;
	s[strjoin("a", "bc")] = 4;
	printf("%d %d %d %d %d\n", s[""], s["a"], s["ab"], s["abc"], s["abcd"]);
	s["ab"] = 0;
	printf("%d %d %d\n", s["a"], s["ab"], s["abc"]);
	s["ab"] = 5;
	printf("%d\n", s["ab"]);

	e[1, "2", '3', 4L, pid, execname, k1, "8"] = 8;
	printf("%d %d\n", e[1, "2", '3', 4, pid, execname, k1, "8"], e[1, "2", '3', 4, pid, execname, k2, "8"]);

	self->per_thread["a", 1] = 3;
	printf("%d %d\n", self->per_thread["a", 1], self->per_thread["a", 2]);
	exit(0);
}

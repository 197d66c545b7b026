// Functions without a value, or with loops: what is called several times is in the clause once. Loops, switch, returns,
// recording, aggregations, self-> and this->, one inside the other, formats as arguments, predicates, faults, ERROR.
// run: -q
self int t;
this int last;
inline void note(string what, int n, string form)
{
	int i = 0;

	if (n > 5) {
		printf("%s big %d\n", what, n);
		@big[what] = sum(n);
		return;
	}
	for (i = 0; i < n; i++) {
		self->t += i;
		printf(form, what, i);
	}
	this->last = n;
	switch (n) {
	case 1: printf("one\n"); break;
	case 2: printf("two\n");
	default: printf("many\n");
	}
}
inline int64_t total(int64_t n)
{
	int64_t s = 0;

	while (n > 0) {
		s += n * 3 + (n ^ 5) - (n & 3);
		if (s > 1000)
			return -s;
		n--;
	}
	return s;
}
inline int64_t pair(int64_t a, int64_t b)
{
	int64_t x = total(a) + total(b), y = total(total(a) % 7);

	do
		x += y-- % 3;
	while (y > 0);
	return x * total(b - 1);
}
inline void both(int64_t n, string s)
{
	note(s, (int)pair(n, n + 1) % 4, "%s:%d ");
	note(s, (int)pair(n + 1, n) % 3, "%s;%d ");
	printf("both %d %d\n", pair(n, 1), total(n));
}

BEGIN
/total(2) + total(3) + total(4) + total(5) > 0/
{
	note("a", 1, "%s=%d\n");
	note("b", 2, "%s=%d\n");
	note("c", 7, "%s=%d\n");
	note("d", 3, "(%s %d)\n");
	note("e", 0, "(%s %d)\n");
	printf("%d last %d\n", self->t, this->last);
	printf("%d %d %d %d\n", total(3) + total(4), total(total(2)), total(1), total(100));
	printf("%d %d\n", pair(2, 3) - pair(3, 2), pair(pair(1, 1) % 5, total(2)));
	both(1, "x");
	both(2, "y");
	both(3, "z");
	for (this->i = 0; total(this->i) < 40; this->i++)
		both(total(this->i) % 3, "loop");
	@["end", total(3)] = quantize(pair(1, 2));
	@["end", total(4)] = quantize(pair(2, 2));
}
inline void deref(int64_t a, string what)
{
	printf("%s before\n", what);
	if (a > 10)
		printf("%s %d\n", what, *(int *)a);
	printf("%s after %d\n", what, 100 / a);
	printf("%s end %d\n", what, a * 2 + 1);
}
BEGIN { deref(4, "first"); deref(5, "second"); this->z = 0; deref(this->z, "third"); deref(6, "fourth"); deref(7, "fifth"); deref(8, "sixth"); }
ERROR { note("error", (int)arg2, "%s %d\n"); note("error", 2, "%s %d\n"); note("error", 7, "%s %d\n"); }
BEGIN { exit(0); }
inline void rounds(int n) { int i; for (i = 0; i < n; i++) @rounds[n > 500 ? "many" : "few", i % 3, n * 2 - n - n] = count(); }
/* loopmax is about each call */
END { rounds(900); rounds(900); rounds(3); rounds(900); rounds(4); rounds(5); }

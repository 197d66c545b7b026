// Functions: with a value, in expressions and predicates; without one, as statements.
// run: -q
inline int64_t clamp(int64_t x, int64_t low, int64_t high)
{
	int64_t most = x < high ? x : high;

	if (most < low)
		return low;
	return most;
}
inline int sq(int x) { return x * x; }
inline int add(int a, int b) { return a + b; }
inline string name(int n)
{
	if (n == 1) return "one";
	if (n == 2) { return "two"; } else if (n == 3) return "three";
	return strjoin("many ", lltostr(n));
}
inline int partial(int n)
{
	int r, s = 5;
	if (n > 0) { if (n > 10) return -1; r = n; if (n > 5) { if (n > 7) { return 77; } r += 100; } }
	else { s++; }
	r += s;
	return r;
}
inline int seq(int n) { n += 1; n *= 2; this->glob = n; return n; }
inline uint64_t sign(uint32_t u) { if (u > 3) return -1; return u; }
int calls;
inline int once(int n) { return n + n + n; }
inline int add3(int a, int b, int c) { return add(a, add(b, c)); }
BEGIN
/sq(3) == 9 && add(1, 2) == 3/
{
	printf("%d %d %d\n", clamp(5, 1, 3), clamp(-5, 1, 3), clamp(2, 1, 3));
	printf("%d %d %d\n", sq(sq(2)), add(1, add(2, add(3, 4))), add(add(1, 2), add(3, 4)));
	printf("%s %s %s %s\n", name(1), name(2), name(3), name(4));
	printf("%d %d %d %d %d\n", partial(0), partial(3), partial(11), partial(6), partial(8));
	x = 4;
	printf("%d %d %d\n", seq(x), x, this->glob);
	printf("%d %x\n", sign(1), sign(9));
	printf("%d %d\n", once(calls++), calls);
	printf("%d %d\n", add3(x, 2, 3), add3(add3(1, 2, 3), add3(4, 5, 6), add3(7, 8, 9)));
	@[name(5)] = sum(sq(4));
	exit(0);
}

/* Functions without a value are statements: they can do what a clause can. */
inline void show(string what, int n)
{
	int twice = n * 2;

	if (n < 0)
		return;
	printf("%s %d %d\n", what, n, twice);
	@seen[what] = sum(n);
	if (n > 5) {
		if (n > 7)
			return;
		printf("six or seven\n");
	}
	printf("end %s\n", what);
}
inline void format(string f, int v) { printf(f, v); }
inline void both(string w, int n) { show(w, n); show(strjoin(w, "!"), n + 1); }
inline void nothing() { }
inline void change(int n) { n += 1; printf("%d\n", n); }

END
{
	show("a", 1);
	show("b", -1);
	show("c", 6);
	show("d", sq(3));
	format("<%d>\n", 5);
	both("t", 2);
	nothing();
	change(3);
	if (pid) {
		nothing();
		show("e", 3);
	} else
		show("f", 1);
}

/* Pointers and structures, this-> of the clause, an argument that is a translated object. */
struct pair { int a; int b; };
struct out { int sum; };
struct pair one;
inline int total(struct pair *p) { return p ? p->a + p->b : -1; }
translator struct out < struct pair *P > { sum = P->a + P->b; };
inline int of(struct out *o) { int s = o->sum; return s + o->sum; }
inline string pick(string s, int at) { string t = substr(s, at); return t; }

END
{
	one.a = 3;
	one.b = 4;
	this->p = (struct pair *)alloca(sizeof(struct pair));
	this->p->a = 5;
	this->p->b = 6;
	printf("%d %d %d\n", total(NULL), total(this->p), of(xlate<struct out *>(this->p)));
	printf("%s %s\n", pick("hello", 2), pick(pick("hello", 1), 1));
}

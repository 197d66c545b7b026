// Large functions are compiled once: nested calls, strings, predicates, faults, keys, loops, ERROR.
// run: -q
inline int64_t mix(int64_t a, int64_t b, int64_t c)
{
	int64_t t = a * 3 + b * 5 + c * 7;
	int64_t u = (t ^ (t >> 3)) & 0xffff;

	if (u % 2)
		return u / (c + 1);
	if (t > 100)
		return t - u + a * b * c;
	return -(u + t) * 2 + (a << 2) + (b >> 1) + (c | 8);
}
inline string name(string s, int n)
{
	string r = strjoin(s, "-");

	if (n > 10)
		r = strjoin(r, "big");
	else if (n > 5)
		r = strjoin(r, "middle");
	else
		r = strjoin(r, "small");
	return strjoin(strjoin("<", strjoin(r, lltostr(n))), ">");
}
inline int both(int n) { return mix(n, n + 1, n + 2) + mix(n * 2, 3, 4) - strlen(name("x", n)) * (n % 3) + n / 5; }

BEGIN
/mix(1, 2, 3) != 0/
{
	printf("%d %d %d\n", mix(1, 2, 3), mix(mix(1, 2, 3), mix(4, 5, 6), 7), mix(-1, -2, -3));
	printf("%s %s %s\n", name("a", 3), name(name("b", 7), 20), name("", 0));
	this->x = 5;
	printf("%d %d\n", this->x + mix(this->x, this->x++, 3) * 2 - mix(1, 1, 1), this->x);
	printf("%d %d\n", both(3), both(both(4)) + mix(both(1), 2, both(0)));
	for (this->i = 0; this->i < 3; this->i++)
		@[name("k", this->i * 6)] = sum(mix(1, this->i, 2));
	printf("%d\n", 1 ? mix(1, 2, 3) : mix(3, 2, 1));
	printf("%d\n", (mix(1, 2, 3) && mix(0, 0, 0)) || mix(1, 1, 1));
}
BEGIN { this->x = 3; printf("%d\n", (int)((this->x > 5 ? strlen(lltostr(this->x)) : 1) + mix(1, 2, this->x))); }
BEGIN { self->a[1] = mix(1, 2, 3); g[name("z", 1)] = mix(2, 3, 4); printf("%d %d\n", self->a[1], g["<z-small1>"]); }
BEGIN { printf("%d\n", mix(2, 3, -1)); }	/* faults: c + 1 is 0 */
ERROR { printf("error %d %d %s %d\n", arg2, arg4, name("e", 8), mix(1, 2, 3)); exit(0); }
/* json() needs five of the eight frames that the kernel allows. */
inline int deep(string j, int n)
{
	int a = strtoll(json(j, "a.b")), b = strtoll(json(j, "a.c[1]"));

	if (n > 2)
		return a * n + b * (n - 1) + strlen(j) % (n + 1);
	return (a ^ b) + n * 3 - (a & b) + mix(a, b, n);
}
END { printf("%d %d\n", deep("{\"a\":{\"b\":7,\"c\":[1,9]}}", 3), deep("{\"a\":{\"b\":8,\"c\":[1,6]}}", 1)); }

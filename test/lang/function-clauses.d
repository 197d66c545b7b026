// Functions with statements that several clauses call: the code is shared, records and faults are those of each clause.
// Loops, switch, returns, one function inside another, strings, aggregations, epid, ERROR, several probes, loopmax.
// run: -q
int t, calls;
inline void note(string what, int n, int *p)
{
	int i, v0 = 0, v1 = 1;
	for (i = 0; i < n; i++) {
		v0 = v0 * 3 + i * 7 + v1; v1 = v0 % 1000 + i * 5;
		if (i == 3) { printf("[%s three %d]", what, v1); continue; }
		if (i > 6) break;
		switch (i % 3) { case 0: v1 += 2; break; case 1: v0++; default: v0 += 2; }
		@per[what, i % 4] = sum(v0);
	}
	if (n > 9) { t += *p; printf("never"); }
	printf("%s %d %d; %s %s\n", what, v0, v1, probefunc, probename);
	t += v0;
}
inline void outer(string s, int k)
{
	int j;

	for (j = 0; j < k; j++) { note(strjoin(s, "/o"), j + 2, (int *)0); t = t % 100000 + j; } printf("outer %s %d\n", s, t);
	t = t * 3 + k; t = t * 3 + k; t = t * 3 + k; t = t * 3 + k; t = t * 3 + k; t = t * 3 + k; t = t * 3 + k; t = t * 3 + k;
}
inline int me(int x)
{
	int y = x * 3;

	y = y * 5 + x; y = y * 7 + x; y = y * 9 + x; y = y % 1000 + x / 7 + x * 2; y = y * 11 - x; y = y * 11 - x; y = y * 11 - x;
	return y * 0 + epid;
}
inline void longer(int n)
{
	int i, k;

	for (i = 0; i < n; i++) {
		if (i == 50) { printf("half "); }
		for (k = 0; k < n * 20; k++) { t = t % 1000 + k * 3 - i * 2; t = t * 2 + k / 3; t = t - k; t = t % 77; }
	}
	printf("longer %d\n", n);
	t = t * 3 + k; t = t * 3 + k; t = t * 3 + k; t = t * 3 + k; t = t * 3 + k; t = t * 3 + k; t = t * 3 + k; t = t * 3 + k;
}
inline void show(string form, int n)
{
	t = t * 3 + n; t = t * 3 + n; t = t * 3 + n; t = t * 3 + n; t = t * 3 + n; t = t * 3 + n; t = t * 3 + n; t = t * 3 + n;
	t = t * 3 + n; t = t * 3 + n; t = t * 3 + n; t = t * 3 + n; t = t * 3 + n; t = t * 3 + n; t = t * 3 + n; t = t % 1000;
	printf(form, n, t);
}
BEGIN { show("(%d %d)\n", 1); show("<%d %d>\n", 2); show("(%d %d)\n", 3); }
BEGIN { show("[%d %d]\n", 4); show("<%d %d>\n", 5); }
BEGIN { show("(%d %d)\n", 6); t = 0; }
BEGIN { note("a", 4, (int *)0); }
BEGIN /t > 0/ { printf("before "); note("b", 8, (int *)0); printf("after %d\n", t); }
BEGIN { outer("c", 3); }
BEGIN { if (t > 1) { outer("d", 2); } else { note("x", 1, (int *)0); } trace("end"); note("e", 5, (int *)0); }
BEGIN { note("f", 10, (int *)16); printf("not reached"); }
BEGIN { outer("g", 9); note("h", 10, (int *)24); }
BEGIN { outer("i", 10); }
ERROR { printf("ERROR epid %d action %d off %d code %d addr %d\n", arg1, arg2, arg3, arg4, arg5); note("err", 2, (int *)0); note("err", 20, (int *)8); }
BEGIN, END /calls++ < 9/ { outer("both", 2); printf("epid %d\n", me(3)); }
BEGIN { printf("epid %d\n", me(4)); longer(3); }
BEGIN { longer(100); }
BEGIN { exit(0); }
END { note("end", 3, (int *)0); outer("end", 1); }

// A translated struct is a value: *p, trace(), print(), assignment, a member that is one itself.
// run: -q
struct inner { short n; string s; };
struct out {
	int a;
	int none;	/* the translator does not define it */
	unsigned bits:3, more:7;
	char text[4];
	char same[4];
	string word;
	int *p;
	struct inner in;
	uint8_t small;
};
struct self { int a; int b; };
struct empty { int a; };
translator struct inner < long L > { n = L + 1; s = lltostr(L); };
translator struct out < long L > {
	a = L;
	bits = L;
	more = L * 2;
	text = "abcdef";	/* cut */
	same = "xy";
	word = strjoin("w", lltostr(L));
	p = NULL;
	in = xlate < struct inner > (L * 10);
	small = L + 256;
	a = 99;			/* the first counts */
};
translator struct self < struct self S > { a = S.b; b = S.a; };
translator struct empty < int I > { };
inline struct out *ptr = xlate < struct out * > ((long)5);
inline struct out obj = xlate < struct out > ((long)6);
struct out declared;
struct out array[int];
struct self s;

BEGIN
{
	print(*ptr);
	fresh = *ptr;
	declared = obj;
	self->t = xlate < struct out > ((long)7);
	array[1] = *ptr;
	printf("%d %d %d %d %d %s %s %s %d %s %d\n", fresh.a, fresh.none, fresh.bits, fresh.more, fresh.small,
	    stringof(fresh.text), stringof(fresh.same), fresh.word, fresh.in.n, fresh.in.s, fresh.p == NULL);
	printf("%d %s %d %s %d\n", declared.a, declared.word, self->t.a, self->t.in.s, array[1].in.n);
	printf("%d %d %s\n", (*ptr).a, sizeof (*ptr) == sizeof (struct out), (*ptr).in.s);
}
BEGIN
{
	s.a = 1; s.b = 2;
	s = xlate < struct self > (s);
	printf("%d %d\n", s.a, s.b);
	print(xlate < struct empty > (1));
	trace(xlate < struct empty > (1));
	@[*xlate < struct self * > (s)] = count();
	exit(0);
}

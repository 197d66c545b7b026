// run: -q
/* a ?? b: a if it compiles, else b. */
struct s { int a; int b; };
struct out { int x; int y; string z; };
struct s v;

inline int twice[int n] = n * 2;
inline int bad[int n] = n.nosuch ?? twice[n] + 1;

translator struct out < struct s S > {
	x = S.gone ?? S.lost ?? S.a;
	y = (S.gone ?? S.b) + 1;
	z = stringof(S.name) ?? "none";
};

BEGIN
{
	v.a = 3;
	v.b = 4;
	printf("%d %d\n", v.nosuch ?? v.a, v.b ?? v.nosuch);
	printf("%d\n", v.x ?? v.y ?? v.z ?? v.a + 10);
	printf("%d %d\n", bad[7], twice[bad[1] ?? 0]);
	printf("%d %d %s\n", xlate < struct out > (v).x, xlate < struct out > (v).y,
	    xlate < struct out > (v).z);
	/* looser than ?:, tighter than = and the comma */
	printf("%d %d\n", 1 ? 2 : v.no ?? 3, (0 ? v.a : v.no) ?? 5);
	this->n = v.no ?? 6;
	printf("%d %d\n", this->n, (v.no ?? 7, 8));
	/* unknown names, arguments, types of operands */
	printf("%d %d %d\n", nosuchvar ?? 1, strlen(nosuchvar) ?? 2, "text" * 2 ?? 3);
	/* what is not chosen has no effect */
	this->k = 1;
	printf("%d %d\n", (this->k = 5, v.no) ?? this->k, this->k);
	exit(0);
}

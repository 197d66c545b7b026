// A constant inline can be used where a constant is needed.
// run: -q
inline int N = 4;
inline string FORMAT = "unused";
int a[N];
struct s {
	char b[N + 1];
	int c : N;
};
enum e { X = N * 2 };

BEGIN
{
	printf("%d %d %d\n", sizeof (a), sizeof (struct s), X);
	@q = lquantize(3, 0, N * 2, N / 2);
	printa(@q);
	exit(0);
}

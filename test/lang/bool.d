// A _Bool is 0 or 1, whatever is assigned to it.
// run: -q
_Bool b;
struct s { _Bool flag; _Bool bit : 1; } v;
int n;

BEGIN
{
	n = 256;
	b = 5;
	printf("%d ", b);
	b = 256;
	printf("%d ", b);
	b = n;
	printf("%d ", b);
	b = 0;
	printf("%d\n", b);
	printf("%d %d %d %d\n", (_Bool)256, (_Bool)n, (_Bool)0, sizeof (b));
	v.flag = n;
	v.bit = 2;
	printf("%d %d ", v.flag, v.bit);
	v.bit += n;
	printf("%d\n", v.bit);
	b++;
	b++;
	printf("%d ", b);
	b--;
	printf("%d ", b);
	b = !b;
	printf("%d\n", b);
	b += n;
	printf("%d %d\n", b, b + b);
	exit(0);
}

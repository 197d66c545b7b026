// tag: D_OP_INCOMPAT 6
struct out { int a; int b; };
translator struct out < int n > { a = n; };
BEGIN
{
	x = xlate < struct out * > (1);
}

// tag: D_CG_DYN 6
struct out { int a; int b; };
translator struct out < int n > { a = n; };
BEGIN
{
	(struct out)xlate < struct out > (1);
}

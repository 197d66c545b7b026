// tag: D_XLATE_NOCONV 6
struct out { int a; int b; };
translator struct out < int n > { a = n; };
BEGIN
{
	trace(xlate < struct out > (1).zzz);
}

// tag: D_XLATE_NONE 6
struct out { int a; int b; };
translator struct out < int n > { a = n; };
BEGIN
{
	trace(xlate < struct out > ("x").a);
}

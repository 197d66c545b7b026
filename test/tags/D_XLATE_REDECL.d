// tag: D_XLATE_REDECL 4
struct out { int a; int b; };
translator struct out < int n > { a = n; };
translator struct out < int m > { b = m; };
BEGIN
{
	trace(1);
}

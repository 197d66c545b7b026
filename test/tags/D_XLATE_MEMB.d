// tag: D_XLATE_MEMB 3
struct out { int a; };
translator struct out < int n > { z = n; };
BEGIN
{
	trace(1);
}

// tag: D_XLATE_MEMB
struct out { int a; };
translator struct out < int n > { z = n; };
BEGIN
{
	trace(1);
}

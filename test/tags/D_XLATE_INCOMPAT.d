// tag: D_XLATE_INCOMPAT
struct out { int a; };
translator struct out < int n > { a = "x"; };
BEGIN
{
	trace(1);
}

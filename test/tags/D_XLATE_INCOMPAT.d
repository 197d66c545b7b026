// tag: D_XLATE_INCOMPAT 3
struct out { int a; };
translator struct out < int n > { a = "x"; };
BEGIN
{
	trace(1);
}

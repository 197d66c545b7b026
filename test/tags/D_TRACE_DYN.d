// tag: D_TRACE_DYN 6
struct out { int a; int b; };
translator struct out < int n > { a = n; };
BEGIN
{
	trace(xlate < struct out * > (1));
}

// tag: D_OP_DYN 6
struct out { int a; int b; };
translator struct out < int n > { a = n; };
BEGIN
{
	trace((pid ? xlate < struct out > (1) : xlate < struct out > (2)).a);
}

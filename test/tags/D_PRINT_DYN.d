// tag: D_PRINT_DYN 6
struct out { int a; int b; };
translator struct out < int n > { a = n; };
BEGIN
{
	print(xlate < struct out * > (1));
}

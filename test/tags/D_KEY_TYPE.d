// tag: D_KEY_TYPE 7
void *p;
struct out { int a; int b; };
translator struct out < int n > { a = n; };
BEGIN
{
	a[xlate < struct out > (1)] = 1;
}

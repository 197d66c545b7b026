// alloca gives scratch memory, bcopy fills it.
// run: -q
char *p;
struct pair { int a; int b; } x;

BEGIN
{
	p = alloca(16);
	bcopy("hello", p, 6);
	printf("%s\n", stringof(p));
	p[0] = 'j';
	printf("%s\n", stringof(p));
	exit(0);
}

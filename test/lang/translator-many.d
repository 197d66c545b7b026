// Several translators make the same output; the type of the input chooses among them.
// run: -q
struct out { int a; string b; };
struct in { int x; char name[8]; } s;

translator struct out < int n > { a = n; b = "int"; };
translator struct out < string t > { a = strlen(t); b = t; };
translator struct out < struct in i > { a = i.x; b = stringof(i.name); };
translator struct out < struct in *p > { a = p->x + 100; b = "pointer"; };

BEGIN
{
	s.x = 5;
	s.name[0] = 'n';
	this->p = (struct in *)alloca(sizeof (struct in));
	*this->p = s;
	printf("%d %s\n", xlate < struct out > (7).a, xlate < struct out > (7).b);
	printf("%d %s\n", xlate < struct out > (7L).a, xlate < struct out > ((char)7).b);
	printf("%d %s\n", xlate < struct out > ("abc").a, xlate < struct out > ("abc").b);
	printf("%d %s\n", xlate < struct out > (s).a, xlate < struct out > (s).b);
	printf("%d %s\n", xlate < struct out * > (this->p)->a, xlate < struct out * > (this->p)->b);
	exit(0);
}

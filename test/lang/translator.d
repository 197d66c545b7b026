// Translators turn one type into another, member by member, when asked.
// run: -q
struct in { int a; char name[8]; };
struct out { int doubled; string name; int sum; };

translator struct out < struct in *p >
{
	doubled = p->a * 2;
	name = stringof(p->name);
	sum = p->a + p->a + 1;
};

translator struct out < int n >
{
	doubled = n * 2;
	name = "number";
};

struct in *ip;

BEGIN
{
	ip = alloca(sizeof (struct in));
	ip->a = 21;
	ip->name[0] = 'z';
	ip->name[1] = 0;
	printf("%d %s %d\n", xlate < struct out * > (ip)->doubled, xlate < struct out > (ip).name,
	    xlate < struct out > (ip).sum);
	printf("%d %s\n", xlate < struct out > (4).doubled, xlate < struct out * > (4)->name);
	exit(0);
}

// Assignments to elements of arrays inside an assignment to another element.
// run: -q
struct in { int a; unsigned int e:3; };
struct deep { struct in one; int8_t list[3]; };
struct deep deeps[int];
struct in many[int];
int i;

BEGIN
{
	printf("%d ", many[0].a = (deeps[0].list[2] = 5));
	printf("%d ", many[0].a += (deeps[0].list[2] = 6));
	printf("%d ", many[0].a += (many[1].a = 7));
	printf("%d ", many[0].e |= (deeps[1].one.e = 6));
	printf("%d ", many[i++].a -= deeps[0].list[2] += 3);
	printf("%d ", deeps[i].one.a *= many[0].a++ + --many[1].a);
	printf("%d\n", i);
	printf("%d %d %d %d %d %d\n", many[0].a, many[1].a, many[0].e, deeps[0].list[2], deeps[1].one.e, deeps[1].one.a);
	exit(0);
}

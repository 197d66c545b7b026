// Variables keep the width and sign of their type.
// run: -q
char c;
unsigned char uc;
short s;
uint32_t u;
int i;

BEGIN
{
	c = 200;
	uc = 200;
	s = 70000;
	u = -1;
	i = 0xffffffff;
	printf("%d %d %d %u %d\n", c, uc, s, u, i);
	c += 100;
	uc += 100;
	u++;
	printf("%d %d %u\n", c, uc, u);
	exit(0);
}

// Pointer arithmetic, indexing and dereferencing in scratch memory.
// run: -q
int *p;
char *c;

BEGIN
{
	p = alloca(40);
	p[0] = 10;
	p[1] = 11;
	*(p + 2) = 12;
	printf("%d %d %d\n", *p, p[1], p[2]);
	printf("%d %d\n", (p + 3) - p, (long)(p + 1) - (long)p);
	c = (char *)p;
	printf("%d %d\n", c[0], c[4]);
	p++;
	printf("%d %d\n", *p, p[-1]);
	p += 1;
	printf("%d %d\n", *p, p == NULL);
	*p += 5;
	(*p)++;
	printf("%d\n", *p);
	exit(0);
}

// A member of a translated object can be a translated object.
// run: -q
struct inner { int a; };
struct outer {
	struct inner in;
	struct inner *ptr;
	int b;
};

translator struct inner < int n > { a = n * 2; };
translator struct outer < long n > {
	b = n;
	in = xlate < struct inner > ((int)n);
	ptr = xlate < struct inner * > ((int)n + 1);
};

BEGIN
{
	printf("%d %d %d\n", xlate < struct outer > (4L).b, xlate < struct outer > (4L).in.a,
	    xlate < struct outer * > (4L)->ptr->a);
	exit(0);
}

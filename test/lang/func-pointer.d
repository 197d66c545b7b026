// Function pointers can be declared, stored and compared, but not called.
// run: -q
typedef int (*compare_t)(const void *, const void *);
struct ops {
	int (*open)(int, ...);
	void (*close)(void);
	compare_t compare;
} ops;
compare_t f;
int (*(*nested)(int))(char);

BEGIN
{
	ops.compare = (compare_t)16;
	f = ops.compare;
	printf("%d %d %d\n", sizeof (f), f == ops.compare, ops.close == NULL);
	printf("%p\n", f);
	exit(0);
}

// Typedefs, qualifiers, function pointers and multi-word types.
// run: -q
typedef unsigned long long int u64;
typedef const volatile u64 *u64p;
typedef struct node { struct node *next; int v; } node_t;
int (*handler)(int, char *);
long unsigned int lu;
short signed ss;

BEGIN
{
	printf("%d %d %d %d %d %d\n", sizeof (u64), sizeof (u64p), sizeof (node_t), sizeof (handler),
	    sizeof (lu), sizeof (ss));
	exit(0);
}

// A linked list in scratch memory.
// run: -q
typedef struct node { struct node *next; int v; } node_t;
node_t *n;

BEGIN
{
	n = alloca(sizeof (node_t));
	n->v = 1;
	n->next = alloca(sizeof (node_t));
	n->next->v = 2;
	n->next->next = NULL;
	printf("%d %d %d\n", n->v, n->next->v, n->next->next == NULL);
	exit(0);
}

// An inline can name a translated object; its members are used as if it were a pointer.
// run: -q
typedef struct info {
	int number;
	string text;
} info_t;

translator info_t < int n > {
	number = n * 2;
	text = lltostr(n);
};

inline info_t *current = xlate < info_t * > (21);
inline info_t *of[int n] = xlate < info_t * > (n);

BEGIN
{
	printf("%d %s\n", current->number, current->text);
	printf("%d %s\n", of[7]->number, of[7]->text);
	exit(0);
}

// Inlines: constants, expressions, and with parameters.
// run: -q
inline int LIMIT = 10;
inline int twice[int a] = a + a;
inline string greet[string who, int n] = n > 1 ? strjoin("hello ", who) : who;
int n;
inline int square = n * n;
int table[LIMIT];

BEGIN
{
	n = 7;
	printf("%d %d %d\n", LIMIT, sizeof (table), twice[LIMIT]);
	printf("%s %s\n", greet["world", 2], greet["you", 1]);
	printf("%d %d\n", square, twice[twice[3]]);
	exit(0);
}

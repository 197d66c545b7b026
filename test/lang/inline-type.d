// The value of an inline is converted to the type it is declared with, unless it is an integer constant; so are its arguments.
// run: -q
inline unsigned char narrow = 300;
inline uint8_t low[int n] = n;
inline int plus[char a, long b] = a + b;
inline int twice[int n] = plus[n, n];
inline string greet[string who] = strjoin("hello ", who);

BEGIN
{
	x = 0x1234;
	printf("%d %d\n", narrow, sizeof (narrow));
	printf("%x\n", low[x]);
	printf("%d %d\n", plus[300, 1], twice[plus[1, 2]]);
	printf("%s\n", greet[greet["you"]]);
	exit(0);
}

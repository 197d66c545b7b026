// run: -q
// A choice between constants has the common type of both arms, also where one of them is a choice itself.
char c;
unsigned int u;
BEGIN
{
	c = -1;
	u = 5;
	printf("%d %d\n", (int64_t)(0 ? (1 ? (short)-32 : (unsigned int)5) : (char)-1), (int64_t)(u == 0 ? (u ? (short)-32 : u) : c));
	exit(0);
}

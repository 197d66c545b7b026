// -x version=1.0: what was added to D later does not exist, neither built-in nor declared so.
// run: -q -x version=1.4
#pragma D binding "1.5" newer
inline int newer = 1;
#pragma D binding "1.4" older
inline int older = 2;

BEGIN
{
	newer = "a variable of mine";
	llquantize = older;
	printf("%s %d\n", newer, llquantize);
	exit(0);
}

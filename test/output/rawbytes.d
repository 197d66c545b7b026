// -x rawbytes also dumps strings.
// run: -q -x rawbytes
struct s { char c[4]; } x;

BEGIN
{
	x.c[0] = 'h';
	x.c[1] = 'i';
	trace(x.c);
	exit(0);
}

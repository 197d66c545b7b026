// A cast cuts a signed value that arithmetic has carried beyond the type of its expression: ~ of such a one, a quotient.
// run: -q
short s, minus, low;
int i, one;
int8_t c;
long a, b, d, e, f;

BEGIN
{
	s = -1; minus = -1; low = -32768; i = -2147483648; one = -1; c = -128;
	a = (int)~(s << 63);
	b = (int)(s ? ~(s << 63) : 1);
	d = (short)(low / minus);
	e = (int)(i / one);
	f = (char)(c / (char)-1);
	printf("%d %d %d %d %d\n", a, b, d, e, f);
	@[(int)~(s << 63)] = count();
	exit(0);
}

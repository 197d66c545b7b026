// %lc %wc: a wide character; %ls %ws: an array of them. Both come out as UTF-8.
// run: -q
struct w { int text[4]; } w;

BEGIN
{
	w.text[0] = 'A';
	w.text[1] = 0x20ac;
	w.text[2] = 'B';
	printf("%lc %wc %lc %lc %lc\n", 0x20ac, 'x', 0xe9, 0x1f600, 0x7fffffff);
	printf("[%ls] [%ws] [%8ls]\n", w.text, w.text, w.text);
	exit(0);
}

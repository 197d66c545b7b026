// Width and precision: digits, * from the arguments (a negative width is left, a negative precision none), ?.
// run: -q
BEGIN
{
	printf("[%5d] [%.3d] [%8.3d] [%-8.3d] [%.0d]\n", 7, 7, 7, 7, 0);
	printf("[%*d] [%*d] [%-*d] [%.*d] [%*.*s]\n", 5, 7, -5, 7, 5, 7, 3, 7, 6, 2, "abcdef");
	printf("[%.*s] [%.*d] [%?d] [%?x]\n", -1, "abcdef", -1, 7, 7, 255);
	exit(0);
}

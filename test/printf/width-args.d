// Width and precision from arguments, and ? for the width of an address.
// run: -q
BEGIN
{
	printf("[%*d] [%-*d] [%.*d] [%*s]\n", 5, 42, 5, 42, 4, 7, 6, "ab");
	printf("[%?x]\n", 255);
	exit(0);
}

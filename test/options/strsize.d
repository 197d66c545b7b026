// -x strsize: strings are cut to it, in characters.
// run: -q -x strsize=8
string s;

BEGIN
{
	s = "0123456789";
	self->t = "abcdefghij";
	printf("%d [%s] [%s] [%s] %d\n", sizeof(string), s, self->t, "constants too", strlen("constants too"));
	@["a key of some length"] = count();
	printa("[%s]\n", @);
	exit(0);
}

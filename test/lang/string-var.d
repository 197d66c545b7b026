// Strings are copied on assignment and cut to strsize.
// run: -q
#pragma D option strsize=8
string g;

BEGIN
{
	g = "0123456789";
	self->s = "abc";
	this->t = g;
	g = "changed";
	printf("[%s] [%s] [%s] %d\n", g, self->s, this->t, sizeof (string));
	self->s = 0;
	printf("%d\n", self->s == NULL);
	exit(0);
}

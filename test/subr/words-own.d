// A script's own names come before those of new subroutines.
// run: -q
int sprintf;
inline int starts_with = 7;
BEGIN
{
	strhash = 3; hexstr["a"] = 4; strfield = "text"; self->strreplace = 5;
	sprintf = 6; strcasecmp = "mine";
	@min = min(3); @min = min(2);
	printf("%d %d %s %d %d %d %s\n", strhash, hexstr["a"], strfield, self->strreplace, sprintf, starts_with, strcasecmp);
	printf("%d %s\n", min(strhash, 2), strfield("a b", " ", 1));
	printa("%@d\n", @min);
	exit(0);
}

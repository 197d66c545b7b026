// setopt(): dynamic options while tracing; one that cannot be set is reported, and tracing continues.
// run:
BEGIN
{
	trace(1);
}

BEGIN
{
	setopt("quiet");
}

BEGIN
{
	printf("%d\n", 2);
	setopt("rawbytes", "yes");
	setopt("bufsize", "1m");
	setopt("nosuch");
	setopt("quiet", "perhaps");
	setopt("quiet", "no");
}

BEGIN
{
	trace(3);
	exit(0);
}

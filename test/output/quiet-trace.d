// With -q trace() prints the bare value.
// run: -q
BEGIN
{
	trace(1);
	trace("str");
	trace(-4L);
	exit(0);
}

// trace() with -q: bare values.
// run: -q
BEGIN
{
	trace((char)-1);
	trace(" ");
	trace((short)-2);
	trace(" ");
	trace(-3);
	trace(" ");
	trace(-4LL);
	trace("\n");
	exit(0);
}

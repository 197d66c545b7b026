// trace(): by type and size. One- and two-byte integers print without sign.
// run:
struct s { int n; char c[4]; } s;

BEGIN
{
	trace((char)-1);
	trace((short)-2);
	trace(-3);
	trace(-4LL);
}

BEGIN
{
	trace((uint8_t)200);
	trace((uint16_t)60000);
	trace((uint32_t)-1);
	trace(0xffffffffffffffff);
}

BEGIN
{
	trace("text");
	trace("");
	trace("longer than the thirty-three columns it has");
	trace("tab\there");
}

BEGIN
{
	trace((void *)0x1234);
	trace(NULL);
	trace(pid > 0);
}

BEGIN
{
	s.c[0] = 'x';
	trace(s);
	trace(s.c);
}

BEGIN
{
	s.n = 0x41424344;
	trace(s);
	exit(0);
}

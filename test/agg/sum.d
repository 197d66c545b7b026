// sum(): signed, and wraps around when it no longer fits 64 bits.
// run: -q
BEGIN
{
	@a = sum(10); @a = sum(-30);
	@b = sum(0x7fffffffffffffff); @b = sum(1);
	@c = sum((char)-1); @c = sum((uint8_t)255);
	printa("%@d %@d %@d\n", @a, @b, @c);
	exit(0);
}

// Keys by kind: integers by their size, strings, structures, stacks and symbols.
// run: -q -x strsize=24
struct s { int n; char c[4]; } s;

BEGIN
{
	@int[(char)-1, (short)-2, -3, -4LL, (uint8_t)200] = count();
	@str["", "text"] = count();
	@long["as long as strsize allows it to be"] = count();
	s.n = 1;
	s.c[0] = 'x';
	@struct[s] = count();
	s.n = 0x41424344;
	@printable[s] = count();
	@control["a\001b"] = count();
	@ptr[(void *)0x1234] = count();
	@sym[sym(0x10), mod(0x20), usym(0x30), umod(0x40), uaddr(0x50), func(0x60), ufunc(0x70)] = count();
	@stack[stack(), ustack(2), jstack()] = count();
	exit(0);
}

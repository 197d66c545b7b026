// %a: a kernel address by name; without one it is a number.
// run: -q
BEGIN
{
	printf("[%a] [%8a] [%-8a]\n", 0x10, (void *)0x20, 0x30LL);
	@[sym(0x40), mod(0x50)] = count();
	@[sym(0x40), mod(0x50)] = count();
	printa("[%a] [%8a] %@d\n", @);
	exit(0);
}

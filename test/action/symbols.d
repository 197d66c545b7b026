// sym, func, mod, usym, ufunc, umod, uaddr: two blanks and 50 columns, also in quiet mode.
// run: -q
BEGIN
{
	sym(0x10); printf("|\n");
	func(0x20); printf("|\n");
	mod(0x30); printf("|\n");
	usym(0x40); printf("|\n");
	ufunc(0x50); printf("|\n");
	umod(0x60); printf("|\n");
	uaddr(0x70); printf("|\n");
	exit(0);
}

// %p: hexadecimal without 0x. A width of ? is that of an address.
// run: -q
BEGIN
{
	printf("[%p] [%p] [%p] [%#p]\n", (void *)0xbeef, -1, NULL, 255);
	printf("[%?p] [%-?p] [%0?p] [%?s]\n", 0xbeef, 0xbeef, 0xbeef, "text");
	exit(0);
}

// Flags: # another form, 0 zeros, - left, + sign, blank, ' grouping (nothing to group in the C locale).
// run: -q
BEGIN
{
	printf("[%#8x] [%08x] [%-8x] [%+8d] [% 8d]\n", 0x123, 0x123, 0x123, 123, 123);
	printf("[%#08x] [%-#8x] [%+d] [% d] [%+ d]\n", 0x123, 0x123, -5, -5, 5);
	printf("[%'d] [%'12d] [%'u]\n", 1234567, 1234567, 1234567);
	printf("[%-08d] [%0-8d]\n", 42, 42);
	exit(0);
}

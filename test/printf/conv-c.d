// %c: a character; %C: with escapes. Any integer has a last byte; %C takes no more than 32 bits.
// run: -q
BEGIN
{
	printf("%c%c%c|%3c|%-3c|\n", 'a', 66, 0x143, 'd', 'e');
	printf("%C%C%C%C%C%C%C%C%C|\n", '\0', '\a', '\b', '\f', '\n', '\r', '\t', '\v', '"');
	printf("%C%C%C%C|%5C|%-5C|\n", '\\', 'x', 1, 0xff, '\n', '\n');
	exit(0);
}

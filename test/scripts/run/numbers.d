#!/usr/sbin/dtrace -s
/* printf with every conversion of integers and characters. */

#pragma D option quiet

BEGIN
{
	printf("[%d] [%i] [%5d] [%-5d] [%05d] [%+d] [% d]\n", 42, -42, 42, 42, 42, 42, 42);
	printf("[%u] [%o] [%x] [%X] [%#x] [%#o] [%08x]\n", 42, 42, 255, 255, 255, 8, 255);
	printf("[%d] [%u] [%x]\n", (char)-1, (unsigned char)-1, (short)-1);
	printf("[%lld] [%llu] [%llx]\n", -1LL, 18446744073709551615ULL, 0xdeadbeefcafeLL);
	printf("[%c] [%c%c] [%C] [%3c] [%-3c]\n", 'A', 'o', 'k', '\t', 'x', 'y');
	printf("[%s] [%8s] [%-8s] [%.2s] [%S] [%-6.3s]\n", "text", "text", "text", "text", "a\tb\n", "abcdef");
	printf("[%*d] [%-*d] [%.*d] [%5.3d]\n", 6, 7, 6, 7, 4, 7, 7);
	printf("[%p] [%d%%] [%s]\n", 0xffff, 50, probename);
	printf("[%Y] [%24Y]\n", 0LL, 1000000000000000000);
	exit(0);
}

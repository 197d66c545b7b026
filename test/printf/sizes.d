// Sizes: written ones must be the argument's, but need not be written.
// run: -q
BEGIN
{
	printf("%hd %hi %hu %ho %hx %hX\n", (short)-1, (short)-1, (ushort_t)-1, (ushort_t)8, (ushort_t)-1, (ushort_t)-1);
	printf("%ld %li %lu %lo %lx %lX\n", -1L, -1L, 1UL, 8UL, 255UL, 255L);
	printf("%lld %lli %llu %llo %llx %llX\n", -1LL, walltimestamp - walltimestamp, 1ULL, 8ULL, (int64_t)255, (uint64_t)255);
	exit(0);
}

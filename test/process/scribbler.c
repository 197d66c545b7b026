/*
 * scribbler: a program that is traced from inside, and lies: it writes whatever it likes into the memory that it shares with
 * dtrace, while its probes fire. It ends by itself, or crashes by what it wrote; dtrace must not.
 *
 *   scribbler SEED MILLISECONDS
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static uint64_t state;
static uint8_t *start, *end;

__attribute__((noinline)) long work(long a, const char *text)
{
	__asm__ volatile("" ::: "memory");
	return a + text[0];
}

static uint64_t any(void)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return state >> 20;
}

/* dtrace's memory here, if it has come. */
static int find(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "memfd:dtrace") && strstr(line, " rw") && sscanf(line, "%lx-%lx", &from, &to) == 2) {
			start = (uint8_t *)from;
			end = (uint8_t *)to;
		}
	if (f)
		fclose(f);
	return start != NULL;
}

/* Values that are likely to mislead: small ones, large ones, addresses in the memory, what is there already but for a bit. */
static uint64_t value(uint64_t was)
{
	switch (any() % 8) {
	case 0: return 0;
	case 1: return ~0ull;
	case 2: return any() % 64;
	case 3: return any() << 32 | any();
	case 4: return (uint64_t)start + any() % (uint64_t)(end - start);
	case 5: return was + 8 - any() % 16;
	case 6: return was << 1;
	default: return was ^ 1ull << any() % 64;
	}
}

/* Most of the memory is never used. Those pages that are. */
static uint8_t *pages[1 << 16];
static size_t npages;

static void find_pages(void)
{
	size_t n = (size_t)(end - start) >> 12;
	unsigned char *there = malloc(n);

	npages = 0;
	if (there && mincore(start, (size_t)(end - start), there) == 0)
		for (size_t i = 0; i < n && npages < sizeof(pages) / sizeof(pages[0]); i++)
			if (there[i] & 1)
				pages[npages++] = start + (i << 12);
	free(there);
}

static void *lie(void *arg)
{
	(void)arg;
	while (!find())
		usleep(100);
	usleep((useconds_t)(any() % 20000));
	for (uint64_t k = 0;; k++) {
		uint64_t *p, at = any() % 512, n = 1 + any() % 64, text = any() % 8 ? 0 : 0x4141414141414141; /* strings that do not end */

		if (k % 16384 == 0)
			find_pages();
		if (!npages)
			continue;
		p = (uint64_t *)pages[any() % npages];
		for (uint64_t i = at; i < at + n && i < 512; i++)
			p[i] = text ? text : value(p[i]);
		if (any() % 16 == 0)
			usleep(1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct timespec now, until;
	pthread_t t;
	long n = 0;

	state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	alarm(10); /* the runtime may never come back from what was written */
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (argc > 2 ? atol(argv[2]) : 100) * 1000000;
	if (pthread_create(&t, NULL, lie, NULL))
		return 1;
	do {
		for (int i = 0; i < 100; i++)
			n += work(n, "text");
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - until.tv_sec) * 1000000000 + now.tv_nsec - until.tv_nsec < 0);
	_exit(0);
}

/*
 * absent DIR past N: N times a page that is past the end of its file.
 * absent DIR [DISK]: strings on pages that are not in the page tables, as paths of openat(), which
 * is the first to touch them. absent.sh says what a tracer must read from each.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096

/* Constants, each on a page of its own: only the system call touches it. */
static const struct {
	char text[PAGE];
} constant[8] __attribute__((aligned(PAGE))) = {{"constant 0"}, {"constant 1"}, {"constant 2"}, {"constant 3"},
						{"constant 4"}, {"constant 5"}, {"constant 6"}, {"constant 7"}};

/* The number of close() says which case it was: the descriptor does not exist. */
static void try(int number, const char *p)
{
	syscall(SYS_openat, -100, p, O_RDONLY | O_DIRECTORY);
	close(1000 + number);
}

/* The same after its pages have been removed from the page tables. */
static void try_absent(int number, const char *p, size_t pages)
{
	char *page = (char *)((uintptr_t)p & -(uintptr_t)PAGE);

	if (madvise(page, pages * PAGE, MADV_DONTNEED) != 0)
		exit(1);
	try(number, p);
}

static int make(const char *dir, const char *name, int pages)
{
	char path[256], *all = calloc((size_t)pages, PAGE);
	ssize_t size = (ssize_t)pages * PAGE;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0) {
		perror(path);
		exit(1);
	}
	for (int i = 0; i < pages; i++) {
		char *page = all + (size_t)i * PAGE;

		snprintf(page, 100, " over the end");
		snprintf(page + 100, 100, "%s page %d", name, i);
		for (int k = 0, n = i; k < 8; k++, n /= 10)
			page[PAGE - 1 - k] = (char)('0' + n % 10); /* the string ends in the next page */
	}
	if (write(fd, all, (size_t)size) != size) /* at once, so that the kernel takes large folios if it has them */
		exit(1);
	free(all);
	return fd;
}

static char *map(int fd, int pages, int prot, int flags)
{
	char *p = mmap(NULL, (size_t)pages * PAGE, prot, flags, fd, 0);

	if (p == MAP_FAILED)
		exit(1);
	madvise(p, (size_t)pages * PAGE, MADV_RANDOM); /* touching it maps one page */
	return p;
}

static void file_cases(int base, const char *dir)
{
	enum { N = 600 };
	int fd = make(dir, "file", N);
	char *p = map(fd, N, PROT_READ, MAP_PRIVATE), *q = map(fd, N, PROT_READ | PROT_WRITE, MAP_PRIVATE);

	try_absent(base, p + 100, 1);
	try_absent(base + 1, p + 599 * PAGE + 100, 1);
	try_absent(base + 2, p + 512 * PAGE + 100, 1);
	try_absent(base + 3, p + 64 * PAGE - 8, 2);
	/* written to: the copy is read until it is discarded */
	strcpy(q + 5 * PAGE + 100, "my own copy");
	try(base + 4, q + 5 * PAGE + 100);
	try(base + 5, q + 6 * PAGE + 100);
	try_absent(base + 6, q + 5 * PAGE + 100, 1);
	/* shared, and written to through another mapping */
	p = map(fd, N, PROT_READ, MAP_SHARED);
	if (pwrite(fd, "new text", 9, 7 * PAGE + 100) != 9)
		exit(1);
	try_absent(base + 7, p + 7 * PAGE + 100, 1);
	close(fd);
}

static int is_swapped(const char *p)
{
	uint64_t entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY);

	if (fd < 0 || pread(fd, &entry, 8, (off_t)((uintptr_t)p / PAGE * 8)) != 8)
		return 0;
	close(fd);
	return entry >> 62 & 1;
}

/* A copy that was swapped out, if there is swap space: the file's page is in memory, but it is not what the process has. */
static void swap_case(int number, const char *dir)
{
	int fd = make(dir, "swap", 4);
	char *p = map(fd, 4, PROT_READ | PROT_WRITE, MAP_PRIVATE);

	strcpy(p + 100, "my own copy");
	madvise(p, PAGE, MADV_PAGEOUT);
	if (is_swapped(p)) {
		puts("swapped");
		fflush(stdout);
	}
	try(number, p + 100);
	close(fd);
}

int main(int argc, char **argv)
{
	char *anon, *none;
	int fd;

	if (argc > 3 && strcmp(argv[2], "past") == 0) {
		none = map(make(argv[1], "hidden", 1), 2, PROT_READ, MAP_PRIVATE);
		for (int i = 0; i < atoi(argv[3]); i++)
			try(i, none + PAGE + 100);
		return 0;
	}
	try_absent(0, constant[3].text, 1);
	try_absent(1, constant[6].text, 1);
	anon = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	try(2, anon); /* never written: a fault */
	fd = make(argv[1], "hidden", 1);
	none = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE, fd, 0);
	try(3, none + 100); /* must not be read: a fault */
	try(4, (char *)16); /* not an address: a fault */
	none = map(fd, 2, PROT_READ, MAP_PRIVATE);
	try(5, none + PAGE + 100); /* past the end of the file: a fault */
	close(fd);
	swap_case(6, argv[1]);
	file_cases(10, argv[1]);
	if (argv[2])
		file_cases(20, argv[2]);
	if (argv[2]) { /* a file whose pages the kernel has dropped: a fault */
		fd = make(argv[2], "dropped", 4);
		fsync(fd);
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		anon = map(fd, 4, PROT_READ, MAP_PRIVATE);
		try(30, anon + 100);
		close(fd);
	}
	return 0;
}

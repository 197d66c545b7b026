/*
 * fail: for LD_PRELOAD. One call of the program fails, as if the machine had run out of a resource.
 *
 *	FAIL_WHAT=memory FAIL_AT=17 FAIL_LOG=file LD_PRELOAD=fail.so dtrace ...
 *
 * FAIL_WHAT is one of the kinds below; its call number FAIL_AT (from 1) fails with a realistic
 * errno, and "failed" is written to FAIL_LOG; with FAIL_ON all further ones fail as well. Without
 * FAIL_AT nothing fails, and the file gets a line for each kind: its name, and how many calls there
 * were. Only the process that the variables were set for is affected: its children run without this
 * library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { MEMORY, MMAP, OPEN, READ, IOCTL, BPF, PERF, FORK, KINDS };

static const char *const names[KINDS] = {"memory", "mmap", "open", "read", "ioctl", "bpf", "perf", "fork"};
static const int errors[KINDS] = {ENOMEM, ENOMEM, EMFILE, EIO, EINVAL, ENOMEM, EMFILE, EAGAIN};
static atomic_long calls[KINDS];
static long at;
static int what = -1, on, log_fd = -1;

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

/* Before main(), and after the loader and the C library have what they need: those cannot report an
 * error. */
static __attribute__((constructor)) void begin(void)
{
	const char *file = getenv("FAIL_LOG"), *n = getenv("FAIL_AT"), *kind = getenv("FAIL_WHAT");

	if (file)
		log_fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	for (int i = 0; kind && i < KINDS; i++)
		if (strcmp(kind, names[i]) == 0)
			what = i;
	at = n ? atol(n) : 0;
	on = getenv("FAIL_ON") != NULL;
	unsetenv("FAIL_AT");
	unsetenv("FAIL_ON");
	unsetenv("FAIL_WHAT");
	unsetenv("FAIL_LOG");
	unsetenv("LD_PRELOAD");
	for (int i = 0; i < KINDS; i++)
		atomic_store(&calls[i], 0);
}

static void note(const char *text, long n)
{
	char line[64];
	int len = snprintf(line, sizeof(line), "%s %ld\n", text, n);

	if (log_fd >= 0 && syscall(SYS_write, log_fd, line, len) != len)
		log_fd = -1;
}

static __attribute__((destructor)) void end(void)
{
	for (int i = 0; !at && i < KINDS; i++)
		note(names[i], atomic_load(&calls[i]));
}

static int fails(enum kind kind)
{
	long n = atomic_fetch_add(&calls[kind], 1) + 1;

	if ((int)kind != what || !at || n < at || (n > at && !on))
		return 0;
	if (n == at)
		note("failed", at);
	errno = errors[kind];
	return 1;
}

/* ---- memory ---- */

void *malloc(size_t n)
{
	return fails(MEMORY) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return fails(MEMORY) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return fails(MEMORY) ? NULL : __libc_realloc(p, n);
}

void *mmap(void *addr, size_t n, int prot, int flags, int fd, off_t offset)
{
	if (fails(MMAP))
		return MAP_FAILED;
	return (void *)syscall(SYS_mmap, addr, n, prot, flags, fd, offset);
}

void *mmap64(void *addr, size_t n, int prot, int flags, int fd, off64_t offset)
{
	return mmap(addr, n, prot, flags, fd, offset);
}

/* ---- files ---- */

static mode_t mode_of(int flags, va_list ap)
{
	return flags & (O_CREAT | __O_TMPFILE) ? (mode_t)va_arg(ap, int) : 0;
}

#define OPENAT(dir, path)                                                                          \
	va_list ap;                                                                                \
	mode_t mode;                                                                               \
                                                                                                   \
	va_start(ap, flags);                                                                       \
	mode = mode_of(flags, ap);                                                                 \
	va_end(ap);                                                                                \
	return fails(OPEN) ? -1 : (int)syscall(SYS_openat, dir, path, flags, mode)

int open(const char *path, int flags, ...) { OPENAT(AT_FDCWD, path); }
int open64(const char *path, int flags, ...) { OPENAT(AT_FDCWD, path); }
int openat(int dir, const char *path, int flags, ...) { OPENAT(dir, path); }
int openat64(int dir, const char *path, int flags, ...) { OPENAT(dir, path); }

FILE *fopen(const char *path, const char *mode)
{
	return fails(OPEN) ? NULL : ((FILE *(*)(const char *, const char *))dlsym(RTLD_NEXT, "fopen"))(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	return fopen(path, mode);
}

void *opendir(const char *path)
{
	return fails(OPEN) ? NULL : ((void *(*)(const char *))dlsym(RTLD_NEXT, "opendir"))(path);
}

ssize_t read(int fd, void *buf, size_t n)
{
	return fails(READ) ? -1 : syscall(SYS_read, fd, buf, n);
}

ssize_t pread(int fd, void *buf, size_t n, off_t offset)
{
	return fails(READ) ? -1 : syscall(SYS_pread64, fd, buf, n, offset);
}

ssize_t pread64(int fd, void *buf, size_t n, off64_t offset)
{
	return pread(fd, buf, n, offset);
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	return fails(IOCTL) ? -1 : (int)syscall(SYS_ioctl, fd, request, arg);
}

/* ---- processes and the kernel ---- */

pid_t fork(void)
{
	return fails(FORK) ? -1 : ((pid_t(*)(void))dlsym(RTLD_NEXT, "fork"))();
}

long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long arg[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(ap, long);
	va_end(ap);
	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	if ((number == SYS_bpf && fails(BPF)) || (number == SYS_perf_event_open && fails(PERF)))
		return -1;
	return real(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

/*
 * rt_libc: the functions of the C library that the interpreter and the compiler call.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <signal.h>
#include <unistd.h>

#include "process/runtime/runtime.h"

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	uint8_t *t = to;
	const uint8_t *f = from;

	for (; n >= 8; n -= 8, t += 8, f += 8)
		*(volatile uint64_t *)(void *)t = *(const uint64_t *)(const void *)f;
	while (n--)
		*(volatile uint8_t *)t++ = *f++;
	return to;
}

void *memmove(void *to, const void *from, size_t n)
{
	uint8_t *t = to;
	const uint8_t *f = from;

	if ((uintptr_t)to - (uintptr_t)from >= n)
		return memcpy(to, from, n);
	while (n--)
		*(volatile uint8_t *)(t + n) = f[n];
	return to;
}

void *memset(void *to, int c, size_t n)
{
	uint64_t word = (uint8_t)c * 0x0101010101010101u;
	uint8_t *t = to;

	for (; n >= 8; n -= 8, t += 8)
		*(volatile uint64_t *)(void *)t = word;
	while (n--)
		*(volatile uint8_t *)t++ = (uint8_t)c;
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const uint8_t *x = a, *y = b;

	for (; n >= 8 && *(const uint64_t *)(const void *)x == *(const uint64_t *)(const void *)y; n -= 8, x += 8, y += 8)
		;
	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x < *y ? -1 : 1;
	return 0;
}

void *memchr(const void *p, int c, size_t n)
{
	for (const uint8_t *s = p; n; n--, s++)
		if (*s == (uint8_t)c)
			return (void *)(uintptr_t)s;
	return NULL;
}

void *memrchr(const void *p, int c, size_t n)
{
	const uint8_t *s = p;

	while (n--)
		if (s[n] == (uint8_t)c)
			return (void *)(uintptr_t)(s + n);
	return NULL;
}

void *memmem(const void *p, size_t n, const void *what, size_t size)
{
	const uint8_t *s = p;

	for (; n >= size; n--, s++)
		if (memcmp(s, what, size) == 0)
			return (void *)(uintptr_t)s;
	return NULL;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (((const volatile char *)s)[n])
		n++;
	return n;
}

char *strchr(const char *s, int c)
{
	for (;; s++) {
		if (*s == (char)c)
			return (char *)(uintptr_t)s;
		if (!*s)
			return NULL;
	}
}

/* Nothing is ever allocated. */
void free(void *p)
{
	(void)p;
}

/* ---- system calls: they return what the kernel does ---- */

/* As dtrace sees it, which is also what symbols are found by; in a child that shares the memory (vfork) its parent's. */
pid_t getpid(void)
{
	return dt_rt_anchor.pid;
}

/* From the process itself: its own pid, which in a pid namespace is another one. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long nlocal, const struct iovec *remote,
			 unsigned long nremote, unsigned long flags)
{
	pid = (pid_t)dt_rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	return dt_rt_syscall(SYS_process_vm_readv, pid, (long)local, (long)nlocal, (long)remote, (long)nremote, (long)flags);
}

int kill(pid_t pid, int sig)
{
	pid = (pid_t)dt_rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	return (int)dt_rt_syscall(SYS_kill, pid, sig, 0, 0, 0, 0);
}

int nanosleep(const struct timespec *t, struct timespec *left)
{
	return (int)dt_rt_syscall(SYS_nanosleep, (long)t, (long)left, 0, 0, 0, 0);
}

/* ---- what the compiler calls to divide 128-bit numbers; that of its library uses vector registers ---- */

unsigned __int128 __udivti3(unsigned __int128 a, unsigned __int128 b);
unsigned __int128 __udivti3(unsigned __int128 a, unsigned __int128 b)
{
	unsigned __int128 rest = 0, result = 0;

	if (a >> 64 == 0 && b >> 64 == 0)
		return b ? (uint64_t)a / (uint64_t)b : 0;
	for (int i = 127; i >= 0; i--) {
		rest = rest << 1 | (a >> i & 1);
		result <<= 1;
		if (rest >= b) {
			rest -= b;
			result |= 1;
		}
	}
	return result;
}

unsigned __int128 __umodti3(unsigned __int128 a, unsigned __int128 b);
unsigned __int128 __umodti3(unsigned __int128 a, unsigned __int128 b)
{
	return a - __udivti3(a, b) * b;
}

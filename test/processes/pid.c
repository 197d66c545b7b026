/* pid: a program whose calls are known. Its argument says which; n is how often. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone, used)) /* every function as it is written */
#define HERE asm volatile("" ::: "memory")

struct point {
	int x, y;
	const char *name;
};

int table[4] = {1, 2, 3, 4}; /* a variable, not a function */

KEEP int add(int a, int b)
{
	HERE;
	return a + b;
}
int plus(int a, int b) __attribute__((alias("add")));

KEEP long ten(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j)
{
	HERE;
	return a + b + c + d + e + f + g + h + i + j;
}

KEEP int typed(struct point *p, char c, unsigned short s)
{
	HERE;
	return p->x + c + s;
}

/* deeper than the 64 returns that uretprobes can follow */
KEEP int deep(int n)
{
	int r = n ? deep(n - 1) : 0;

	HERE;
	return r + 1;
}

/* several ways out */
KEEP int ways(int n)
{
	if (n == 0)
		return -1;
	HERE;
	if (n == 1) {
		HERE;
		return 10;
	}
	HERE;
	return add(n, 1) + 1;
}

/* jumps to add(), which returns for it */
KEEP int tail(int n)
{
	return add(n, 7);
}

/* a table of jumps inside: not returns */
KEEP int choose(int n)
{
	switch (n) {
	case 0: HERE; return add(n, 1) * 3;
	case 1: HERE; return add(n, 2) ^ 5;
	case 2: HERE; return add(n, 3) | 8;
	case 3: HERE; return add(n, 4) & 6;
	case 4: HERE; return add(n, 5) + 11;
	case 5: HERE; return add(n, 6) - 11;
	case 6: HERE; return add(n, 7) * 7;
	default: return 0;
	}
}

KEEP void __attribute__((noreturn)) leave(int status)
{
	fflush(NULL);
	_exit(status);
}

/* maybe(n) jumps to add() when n is 5 or more: a conditional tail call, as assembler programmers write it.
 * branch(n) has no cheap instruction except the jump after its test. middle: its second instruction
 * is jumped to. */
#if defined(__aarch64__)
asm(".text\n"
    ".type maybe, @function\n"
    "maybe: mov w1, #1\n"
    "	cmp w0, #5\n"
    "	b.hs add\n"
    "	add w0, w0, #100\n"
    "	ret\n"
    ".size maybe, . - maybe\n"
    ".type branch, @function\n"
    "branch: cbz w0, 1f\n"
    "	add w0, w0, #1\n"
    "	ret\n"
    "1:	mov w0, #9\n"
    "	ret\n"
    ".size branch, . - branch\n"
    ".type middle, @function\n"
    "middle: hint #34\n"
    "2:	nop\n"
    "	subs w0, w0, #1\n"
    "	b.gt 2b\n"
    "	ret\n"
    ".size middle, . - middle\n");
#else
asm(".text\n"
    ".type maybe, @function\n"
    "maybe: mov $1, %esi\n"
    "	cmp $5, %edi\n"
    "	jae add\n"
    "	lea 100(%rdi), %eax\n"
    "	ret\n"
    ".size maybe, . - maybe\n"
    ".type branch, @function\n"
    "branch: test %edi, %edi\n"
    "	je 1f\n"
    "	lea 1(%rdi), %eax\n"
    "	ret\n"
    "1:	mov $9, %eax\n"
    "	ret\n"
    ".size branch, . - branch\n"
    ".type middle, @function\n"
    "middle: endbr64\n"
    "2:	nop\n"
    "	dec %edi\n"
    "	jg 2b\n"
    "	mov %edi, %eax\n"
    "	ret\n"
    ".size middle, . - middle\n");
#endif
int maybe(int), branch(int), middle(int);

static void *many(void *n)
{
	for (long i = 0; i < (long)n; i++)
		add((int)i, 1);
	return NULL;
}

static void threads(int n)
{
	pthread_t t[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, many, (void *)(long)n);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
}

static void forks(int n)
{
	for (int i = 0; i < n; i++) {
		pid_t p = fork();

		if (p == 0) {
			many((void *)3l);
			_exit(0);
		}
		waitpid(p, NULL, 0);
		add(i, 1);
	}
}

/* A child that shares the memory: its calls do not count. */
static void vforks(int n)
{
	for (volatile int i = 0; i < n; i++) {
		pid_t p = vfork();

		if (p == 0) {
			add(1, 1);
			_exit(0);
		}
		waitpid(p, NULL, 0);
		add(i, 1);
	}
}

static void execs(int n, char **argv)
{
	char left[16];

	add(n, 1);
	snprintf(left, sizeof(left), "%d", n - 1);
	if (n > 1)
		execl("/proc/self/exe", argv[0], "execs", left, NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 1, sum = 0;
	struct point p = {7, 8, "point"};

	if (strcmp(what, "wait") == 0) { /* for a signal, then work */
		sigset_t set;

		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigprocmask(SIG_BLOCK, &set, NULL);
		puts("ready");
		fflush(stdout);
		sigwait(&set, &n);
		n = argc > 2 ? atoi(argv[2]) : 1;
	}
	if (strcmp(what, "threads") == 0)
		threads(n);
	else if (strcmp(what, "forks") == 0)
		forks(n);
	else if (strcmp(what, "vforks") == 0)
		vforks(n);
	else if (strcmp(what, "execs") == 0)
		execs(n, argv);
	else
		for (int i = 0; i < n; i++) {
			sum += add(i, 2) + plus(i, 3) + typed(&p, 'c', 40000) + ways(i % 3) + tail(i) + choose(i % 8);
			sum += (int)ten(1, 2, 3, 4, 5, 6, 7, 8, 9, 10 + i) + maybe(i % 10) + branch(i & 1) + middle(3);
			if (strcmp(what, "deep") == 0)
				sum += deep(99);
		}
	leave(sum == -1);
}

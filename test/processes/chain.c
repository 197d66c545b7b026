/*
 * chain: ten functions, each called by the one before, none of which keeps a frame pointer or can
 * be inlined; the last one makes a system call that no other code makes: getppid. "chain HOW N
 * [wait]", where HOW says how it is reached:
 *
 *	plain		N times from main
 *	qsort		from the comparison of a qsort() in libc
 *	signal		from a signal handler, raised at the end of the chain
 *	altstack	the same on a stack of its own
 *	thread		in a thread
 *	fork		in N children, one after the other, without exec
 *	aligned		from a function that aligns its stack
 *	jit		through code in anonymous memory that keeps a frame pointer
 *	nocfi		through assembler without unwind information, and from there getppid()
 *	library		through pass() of a library that is opened then: $CHAIN_LIBRARY
 *	loop		plain, a thousand times a second until it is killed
 *	busy		N times a million rounds of arithmetic instead of the system call
 *	clock		N times a million calls of clock_gettime() in its place
 *	regs		getppid with known values in registers
 *	spin		the same values in registers, in a loop until it is killed
 *
 * With "wait" it reads a byte first, and the last function calls pause() in place of getppid().
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FAR __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))

enum what { CALL, RAISE, PAUSE, BUSY, CLOCK };
static enum what what, after;
volatile long sink;

static void work(long n)
{
	struct timespec t;

	for (long i = 0; i < 1000000; i++)
		if (what == CLOCK)
			sink += clock_gettime(CLOCK_MONOTONIC, &t);
		else
			sink += i * n;
}

FAR long last(long n)
{
	switch (what) {
	case RAISE:
		what = after;
		raise(SIGUSR1);
		break;
	case PAUSE: pause(); break;
	case CALL: sink += getppid(); break;
	default: work(n);
	}
	return sink + n;
}

/* What every function does with its frame: some space on the stack, used after the call.
 */
#define LINK(name, next, room)                                                                     \
	FAR long name(long n)                                                                      \
	{                                                                                          \
		volatile long place[room];                                                         \
                                                                                                   \
		place[room - 1] = n;                                                               \
		sink += next(n + 1);                                                               \
		return place[room - 1] + sink;                                                     \
	}
LINK(link9, last, 1)
LINK(link8, link9, 3)
LINK(link7, link8, 40)
LINK(link6, link7, 2)
LINK(link5, link6, 5000)
LINK(link4, link5, 7)
LINK(link3, link4, 1)
LINK(link2, link3, 11)
FAR long link1(long n)
{
	sink += link2(n + 1);
	return sink;
}

/* With arguments on the stack besides, the compiler needs a second register to find its caller's
 * frame. */
FAR long aligned(long n, long b, long c, long d, long e, long f, long g, long h)
{
	char place[64] __attribute__((aligned(64)));

	memset(place, (int)n, sizeof(place));
	__asm__ volatile("" : : "r"(place) : "memory");
	sink += link1(n);
	return place[n & 63] + b + c + d + e + f + g + h;
}

FAR int compare(const void *a, const void *b)
{
	sink += link1(*(const long *)a - *(const long *)b);
	return (int)(sink & 1);
}

FAR void handler(int sig)
{
	sink += link1(sig);
}

FAR void *thread(void *arg)
{
	for (long i = (long)arg; i; i--)
		sink += link1(i);
	return NULL;
}

static void on_signal(int flags)
{
	struct sigaction sa = {.sa_handler = handler, .sa_flags = flags};
	stack_t st = {.ss_sp = malloc(65536), .ss_size = 65536};

	sigaltstack(&st, NULL);
	sigaction(SIGUSR1, &sa, NULL);
}

#ifdef __x86_64__ /* push %rbp; mov %rsp,%rbp; push %rbx; push %rbx; call *%rsi; pop %rbx; pop %rbx; pop %rbp; ret */
static const unsigned char jit_code[] = {0x55, 0x48, 0x89, 0xe5, 0x53, 0x53, 0xff, 0xd6, 0x5b, 0x5b, 0x5d, 0xc3};
#else /* stp x29, x30, [sp, -32]!; mov x29, sp; blr x1; ldp x29, x30, [sp], 32; ret */
static const unsigned jit_code[] = {0xa9be7bfd, 0x910003fd, 0xd63f0020, 0xa8c27bfd, 0xd65f03c0};
#endif

FAR static void through_jit(long n)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	memcpy(p, jit_code, sizeof(jit_code));
	__builtin___clear_cache(p, (char *)p + sizeof(jit_code));
	((void (*)(long, long (*)(long)))p)(n, link1);
	munmap(p, 4096);
}

/* In a separate section, after the code that has tables. */
#ifdef __x86_64__
#define CALLS "push %rbp\n mov %rsp, %rbp\n call *%rdi\n pop %rbp\n ret\n"
#else
#define CALLS "stp x29, x30, [sp, -16]!\n mov x29, sp\n blr x0\n ldp x29, x30, [sp], 16\n ret\n"
#endif
__asm__(".pushsection .nocfi, \"ax\", @progbits\n"
	".type nocfi, @function\n nocfi: " CALLS " .size nocfi, . - nocfi\n"
	".popsection");
extern void nocfi(pid_t (*)(void));

FAR static void through_library(long n)
{
	void *lib = dlopen(getenv("CHAIN_LIBRARY"), RTLD_NOW);
	long (*pass)(long (*)(long), long) =
	    lib ? (long (*)(long (*)(long), long))dlsym(lib, "pass") : NULL;

	if (pass)
		sink += pass(link1, n);
}

/* Five registers that functions preserve have the values 0x3333, 0xcccc ... 0xffff: rbx and r12 ... r15, or x19 ... x23; getppid has
 * arguments 0x5555 and 0x4444. */
#ifdef __x86_64__
#define SAVED "rbx", "r12", "r13", "r14", "r15", "rcx", "r11", "memory"
#define SET                                                                                        \
	"mov $0x3333, %%rbx\n mov $0xcccc, %%r12\n mov $0xdddd, %%r13\n mov $0xeeee, %%r14\n mov " \
	"$0xffff, %%r15\n"
#define SPIN "1: pause\n jmp 1b"
#define CALL_GETPPID                                                                               \
	__asm__ volatile(SET "syscall" : "=a"(sink) : "a"(110l), "D"(0x5555l), "S"(0x4444l) : SAVED)
#else
#define SAVED "x19", "x20", "x21", "x22", "x23", "x0", "x1", "x8", "memory"
#define SET "mov x19, 0x3333\n mov x20, 0xcccc\n mov x21, 0xdddd\n mov x22, 0xeeee\n mov x23, 0xffff\n"
#define SPIN "1: yield\n b 1b"
#define CALL_GETPPID                                                                               \
	__asm__ volatile(SET "mov x0, 0x5555\n mov x1, 0x4444\n mov x8, 173\n svc 0" : : : SAVED)
#endif

FAR static void registers(int spin)
{
	if (spin)
		__asm__ volatile(SET SPIN : : : SAVED);
	else
		CALL_GETPPID;
}

FAR static void once(const char *how, long i)
{
	static const struct timespec ms = {.tv_nsec = 1000000};
	long pair[2] = {2, 1};

	if (strcmp(how, "qsort") == 0) {
		qsort(pair, 2, sizeof(pair[0]), compare);
	} else if (strcmp(how, "signal") == 0 || strcmp(how, "altstack") == 0) {
		on_signal(*how == 'a' ? SA_ONSTACK : 0);
		after = what;
		what = RAISE;
		link1(i);
	} else if (strcmp(how, "fork") == 0) {
		if (fork() == 0) {
			link1(i);
			_exit(0);
		}
		wait(NULL);
	} else if (strcmp(how, "aligned") == 0) {
		sink += aligned(i, 1, 2, 3, 4, 5, 6, 7);
	} else if (strcmp(how, "jit") == 0) {
		through_jit(i);
	} else if (strcmp(how, "nocfi") == 0) {
		nocfi(getppid);
	} else if (strcmp(how, "library") == 0) {
		through_library(i);
	} else if (strcmp(how, "regs") == 0 || strcmp(how, "spin") == 0) {
		registers(*how == 's');
	} else {
		link1(i);
		if (strcmp(how, "loop") == 0)
			nanosleep(&ms, NULL);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "plain";
	long n = argc > 2 ? atol(argv[2]) : 1;
	pthread_t t;
	char c;

	if (argc > 3) {
		if (read(0, &c, 1) != 1)
			return 1;
		what = PAUSE;
	} else if (strcmp(how, "busy") == 0 || strcmp(how, "clock") == 0) {
		what = *how == 'b' ? BUSY : CLOCK;
	}
	if (strcmp(how, "thread") == 0) {
		pthread_create(&t, NULL, thread, (void *)n);
		pthread_join(t, NULL);
		return 0;
	}
	for (long i = 0; i < n || strcmp(how, "loop") == 0; i++)
		once(how, i);
	return 0;
}

/*
 * refused: processes that the process engine does not enter, or not everywhere; see refused.sh.
 *
 *   refused KIND FILE     until the file exists; it prints "ready" first, and the number of wrong results at its end
 *
 *   plain      nothing special; it has two functions that are refused: restarts(), which has a restartable sequence, and its like
 *   seccomp    the system calls of one thread, which is not the first, are restricted
 *   lock       mlockall(MCL_FUTURE)
 *   copy       on SIGUSR1 it moves its code to memory that is not of its file, at the same address, as programs do that want large
 *              pages; the code that does it, and work(), are among that
 *   change     on SIGUSR1 it changes a number in its own code, in an instruction that a jump at the entry replaces as well: it is
 *              the new one at the end
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static const char *file;
static volatile sig_atomic_t asked;
static long expected = 7;

static int done(void)
{
	usleep(1000);
	return access(file, F_OK) == 0;
}

/* work() returns 7; the number is in its second instruction, from byte 4 on. restarts() has the address of a description. */
long work(void), restarts(void);
__asm__(".text\n.p2align 12\n.globl work\n.type work,@function\n"
	"work: .cfi_startproc\n xor %ecx,%ecx\n lea (%rcx),%eax\n mov $7,%eax\n ret\n .cfi_endproc\n.size work,.-work\n"
	".type restarts,@function\n"
	"restarts: .cfi_startproc\n lea 1f(%rip),%rax\n xor %eax,%eax\n nop\n ret\n .cfi_endproc\n.size restarts,.-restarts\n"
	".pushsection __rseq_cs,\"aw\"\n.p2align 5\n1: .long 0,0\n .quad restarts,1,restarts\n.popsection\n"
	".p2align 12\n");

static void on_signal(int sig)
{
	asked = sig;
}

static void *restricted(void *arg)
{
	static struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	static const struct sock_fprog program = {1, all};

	(void)arg;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		_exit(4);
	puts("ready");
	fflush(stdout);
	while (!done())
		;
	return NULL;
}

static void copy_code(void)
{
	char *at = (char *)work;
	void *to = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (to == MAP_FAILED || !memcpy(to, at, 4096) || mremap(to, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, at) != at)
		_exit(5);
}

/* The number of work(). */
static void change_code(void)
{
	char *at = (char *)work;

	if (mprotect(at, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) < 0)
		_exit(6);
	expected = at[5] = 9;
	mprotect(at, 4096, PROT_READ | PROT_EXEC);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[1] : "";
	long wrong = 0, result;
	pthread_t t;

	file = argc > 2 ? argv[2] : "";
	signal(SIGUSR1, on_signal);
	if (strcmp(kind, "seccomp") == 0)
		return pthread_create(&t, NULL, restricted, NULL) || pthread_join(t, NULL);
	if (strcmp(kind, "lock") == 0 && mlockall(MCL_FUTURE) < 0)
		return 77;
	puts("ready");
	fflush(stdout);
	while (!done()) {
		if (asked) {
			asked = 0;
			if (strcmp(kind, "copy") == 0)
				copy_code();
			else
				change_code();
			puts("changed");
			fflush(stdout);
		}
		result = work();
		wrong += result != 7 && result != expected;
		wrong += restarts() != 0;
	}
	wrong += work() != expected;
	printf("wrong %ld\n", wrong);
	return wrong != 0;
}

/*
 * moved: a program whose system call is where no jump fits beside it: the process engine has to move the call itself.
 *
 *   moved N      a thread reads N times, while signals interrupt it; the results must be right
 *   moved FILE   the same until the file exists
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

long moved_read(int fd, void *to, size_t n);

__asm__(".text\n.type moved_read,@function\nmoved_read:\n.cfi_startproc\n\tpush %rbx\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset 3, -16\n"
	"\txor %ebx,%ebx\n1:\tmov %ebx,%eax\n\tsyscall\n\tcmp $-4,%eax\n\tje 1b\n\tpop %rbx\n\t.cfi_def_cfa_offset 8\n\tret\n.cfi_endproc\n"
	".size moved_read,.-moved_read\n");

static int ends[2];
static volatile long handled;
static long total, wrong, n;
static const char *file;

static void on_signal(int sig)
{
	handled += sig != 0;
}

static int goes_on(long i)
{
	return file ? access(file, F_OK) != 0 : i < n;
}

static void *reader(void *arg)
{
	unsigned char byte;

	(void)arg;
	for (long i = 0;; i++) {
		long got = moved_read(ends[0], &byte, 1);

		if (got == 0)
			return NULL;
		wrong += got != 1 || byte != (unsigned char)i;
		total++;
	}
}

int main(int argc, char **argv)
{
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	pthread_t thread;
	long i;

	n = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	file = n ? NULL : argv[1];
	if (pipe(ends) < 0)
		return 1;
	sigaction(SIGUSR1, &act, NULL);
	act.sa_flags = 0; /* these make the call again */
	sigaction(SIGUSR2, &act, NULL);
	pthread_create(&thread, NULL, reader, NULL);
	puts("ready");
	fflush(stdout);
	for (i = 0; goes_on(i); i++) {
		unsigned char byte = (unsigned char)i;

		if (i % 3 == 0)
			pthread_kill(thread, i % 2 ? SIGUSR1 : SIGUSR2);
		if (file || i % 16 == 0)
			usleep(200); /* it sleeps in the call then */
		if (write(ends[1], &byte, 1) != 1)
			return 1;
	}
	close(ends[1]);
	pthread_join(thread, NULL);
	printf("end %ld wrong %ld\n", total - i, wrong);
	return 0;
}

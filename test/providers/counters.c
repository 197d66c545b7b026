/*
 * counters: does known amounts of what vminfo and sysinfo count. The work between getppid() and
 * getpgid() counts; then it prints the kernel's own counts: "minflt N", "syscr N" ...
 *
 *	counters zero|copy|protect|trap N	page faults
 *	counters major FILE			of a file that is not in memory
 *	counters io|fork|spawn|ipc|switch N
 *	counters barrier N			interrupts of other CPUs
 *	counters swap N				pages to the swap device and back
 *	counters read FILE ... 			all of it, twice
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static struct rusage before, after;
static struct io {
	long rchar, wchar, syscr, syscw;
} io0, io1;

static void read_io(struct io *x)
{
	char text[512] = "";
	int fd = open("/proc/thread-self/io", O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (n > 0)
		sscanf(text, "rchar: %ld wchar: %ld syscr: %ld syscw: %ld", &x->rchar, &x->wchar,
		       &x->syscr, &x->syscw);
	if (fd >= 0)
		close(fd);
}

static void begin(void)
{
	read_io(&io0);
	getrusage(RUSAGE_THREAD, &before);
	syscall(SYS_getppid);
}

static void end(void)
{
	syscall(SYS_getpgid, 0);
	getrusage(RUSAGE_THREAD, &after);
	read_io(&io1);
	printf("faults %ld\nmajflt %ld\nnvcsw %ld\nnivcsw %ld\n",
	       after.ru_minflt - before.ru_minflt + after.ru_majflt - before.ru_majflt,
	       after.ru_majflt - before.ru_majflt, after.ru_nvcsw - before.ru_nvcsw,
	       after.ru_nivcsw - before.ru_nivcsw);
	/* what reading the numbers itself adds: one read, of as many bytes as the first time */
	printf("syscr %ld\nsyscw %ld\n", io1.syscr - io0.syscr - 1, io1.syscw - io0.syscw);
	fflush(stdout);
}

static char *pages(int n)
{
	char *p = mmap(NULL, (size_t)n * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	madvise(p, (size_t)n * 4096, MADV_NOHUGEPAGE);
	return p;
}

static void touch(volatile char *p, int n)
{
	for (int i = 0; i < n; i++)
		p[(size_t)i * 4096] = 1;
}

static sigjmp_buf back;
static void caught(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

static void copy(int n)
{
	char *p = pages(n);
	pid_t child;
	int gate[2];

	touch(p, n);
	if (pipe(gate) < 0)
		exit(1);
	child = fork(); /* which shares the pages until the gate is closed */
	if (child == 0) {
		char c;

		close(gate[1]);
		_exit(read(gate[0], &c, 1) != 0);
	}
	touch(pages(1), 1); /* the stack and such */
	begin();
	touch(p, n);
	end();
	close(gate[1]);
	waitpid(child, NULL, 0);
}

#ifdef __x86_64__
#define ILLEGAL __asm__ volatile("ud2")
#else
#define ILLEGAL __asm__ volatile(".word 0") /* aarch64, riscv64 */
#endif

static void protect(int n, int sig)
{
	volatile char *p = pages(1);
	struct sigaction a = {.sa_handler = caught};

	sigaction(sig, &a, NULL);
	mprotect((void *)p, 4096, PROT_READ);
	begin();
	for (volatile int i = 0; i < n; i++)
		if (sigsetjmp(back, 1) == 0) {
			if (sig == SIGILL)
				ILLEGAL;
			*p = 1;
		}
	end();
}

static void major(const char *path)
{
	int fd = open(path, O_RDONLY);
	char *p;

	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd < 0 || p == MAP_FAILED)
		exit(1);
	madvise(p, 4096, MADV_RANDOM);
	begin();
	(void)*(volatile char *)p;
	end();
}

static void do_io(int n)
{
	char b[100] = "";
	struct iovec v[2] = {{b, 10}, {b, 20}};
	int in = open("/dev/zero", O_RDONLY), out = memfd_create("x", 0);

	begin();
	for (int i = 0; i < n; i++) {
		if (read(in, b, 5) + readv(in, v, 2) + pread(in, b, 7, 0) + preadv(in, v, 2, 0) !=
			72 ||
		    read(-1, b, 5) >= 0)
			exit(1);
		if (write(out, b, 3) + writev(out, v, 1) + pwrite(out, b, 1, 0) +
			pwritev(out, v, 2, 0) !=
		    44)
			exit(1);
	}
	end();
}

static void *idle(void *gate)
{
	char c;

	if (gate && read(*(int *)gate, &c, 1) < 0)
		exit(1);
	return NULL;
}

static void do_fork(int n)
{
	struct rlimit none = {1, 1};
	pthread_t t;

	begin();
	for (int i = 0; i < n; i++) {
		pid_t p = fork();

		if (p == 0)
			_exit(0);
		waitpid(p, NULL, 0);
		p = (pid_t)vfork();
		if (p == 0)
			_exit(0);
		waitpid(p, NULL, 0);
		if (pthread_create(&t, NULL, idle, NULL) == 0)
			pthread_join(t, NULL);
	}
	if (setuid(65534) == 0 && setrlimit(RLIMIT_NPROC, &none) == 0 && fork() == 0)
		_exit(0);
	end();
}

static void do_spawn(int n)
{
	extern char **environ;
	char *argv[] = {"/bin/true", NULL};
	pid_t p;

	begin();
	for (int i = 0; i < n; i++)
		if (posix_spawn(&p, argv[0], NULL, NULL, argv, environ) == 0)
			waitpid(p, NULL, 0);
	end();
}

static void do_ipc(int n)
{
	struct {
		long type;
		char text[8];
	} m = {1, "hello"};
	struct sembuf up = {0, 1, 0};
	int s = semget(IPC_PRIVATE, 1, 0600), q = msgget(IPC_PRIVATE, 0600);

	begin();
	for (int i = 0; i < n; i++) {
		semop(s, &up, 1);
		msgsnd(q, &m, 5, 0);
		msgrcv(q, &m, 5, 0, 0);
	}
	end();
	semctl(s, 0, IPC_RMID);
	msgctl(q, IPC_RMID, NULL);
}

/* Switches between reading the numbers and the calls around the window are in one count only: "torn" says that there were some. */
static void do_switch(int n)
{
	struct rusage first, last;

	begin();
	getrusage(RUSAGE_THREAD, &first);
	for (int i = 0; i < n; i++) {
		usleep(1);
		sched_yield();
	}
	getrusage(RUSAGE_THREAD, &last);
	end();
	printf("torn %d\n", last.ru_nvcsw - first.ru_nvcsw != after.ru_nvcsw - before.ru_nvcsw ||
				    last.ru_nivcsw - first.ru_nivcsw != after.ru_nivcsw - before.ru_nivcsw);
	fflush(stdout);
}

static int stop;
static void *spin(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		;
	return NULL;
}

static void barrier(int n)
{
	pthread_t t;

	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	pthread_create(&t, NULL, spin, NULL);
	usleep(50000);
	begin();
	for (int i = 0; i < n; i++) {
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
		usleep(1000);
	}
	end();
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(t, NULL);
}

/* Is one of the pages in memory, or still in the cache of the swap? */
static int resident(char *p, int n)
{
	unsigned char there[n];
	int r = 0;

	if (mincore(p, (size_t)n * 4096, there) < 0)
		return 0;
	for (int i = 0; i < n; i++)
		r += there[i] & 1;
	return r;
}

static void swap(int n)
{
	char *p = pages(n);

	for (int i = 0; i < n; i++)
		memset(p + (size_t)i * 4096, i + 1, 4096);
	begin();
	for (int i = 1; i <= 200; i++) { /* first they are written, then they can be freed */
		madvise(p, (size_t)n * 4096, 21 /* MADV_PAGEOUT */);
		if (!resident(p, n))
			break;
		usleep(50000);
		if (i % 10 == 0) /* written, but left in the cache, where nobody looks for them again: once more from the beginning */
			touch(p, n);
	}
	touch(p, n);
	end();
}

static void read_files(int n, char **path)
{
	static char b[65536];

	begin();
	for (int k = 0; k < 2 * n; k++) {
		int fd = open(path[k % n], O_RDONLY);

		while (fd >= 0 && read(fd, b, sizeof(b)) > 0)
			;
		close(fd);
	}
	end();
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0;

	setvbuf(stdout, NULL, _IOFBF, 65536);
	printf("counters\n");
	fflush(stdout);
	if (strcmp(what, "zero") == 0) {
		char *p = pages(n);

		begin();
		touch(p, n);
		end();
	} else if (strcmp(what, "copy") == 0)
		copy(n);
	else if (strcmp(what, "protect") == 0)
		protect(n, SIGSEGV);
	else if (strcmp(what, "trap") == 0)
		protect(n, SIGILL);
	else if (strcmp(what, "major") == 0)
		major(argv[2]);
	else if (strcmp(what, "io") == 0)
		do_io(n);
	else if (strcmp(what, "fork") == 0)
		do_fork(n);
	else if (strcmp(what, "spawn") == 0)
		do_spawn(n);
	else if (strcmp(what, "ipc") == 0)
		do_ipc(n);
	else if (strcmp(what, "switch") == 0)
		do_switch(n);
	else if (strcmp(what, "barrier") == 0)
		barrier(n);
	else if (strcmp(what, "swap") == 0)
		swap(n);
	else if (strcmp(what, "read") == 0)
		read_files(argc - 2, argv + 2);
	else
		return 2;
	return 0;
}

/*
 * load: a known number of everything that the tools count.
 *
 *	load WHAT N [DIRECTORY]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *dir = "/nonexistent";
static char path[4096];

static const char *in(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void must(long ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static void nothing(int sig)
{
	(void)sig;
}

static void *thread(void *arg)
{
	return arg;
}

/* N signals to itself, N / 2 questions whether process 1 is there */
static void do_kill(int n)
{
	signal(SIGUSR1, nothing);
	for (int i = 0; i < n; i++)
		must(kill(getpid(), SIGUSR1) == 0, "kill");
	for (int i = 0; i < n / 2; i++)
		syscall(SYS_tgkill, getpid(), getpid(), 0);
}

static void do_threads(int n)
{
	pthread_t t;

	for (int i = 0; i < n; i++) {
		must(pthread_create(&t, NULL, thread, NULL) == 0, "pthread_create");
		pthread_join(t, NULL);
	}
}

/* N children: even ones exit with status 3, odd ones are killed */
static void do_children(int n)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0 && i % 2)
			raise(SIGKILL);
		if (pid == 0)
			_exit(3);
		waitpid(pid, NULL, 0);
	}
}

/* N programs, and N that are not there */
static void do_exec(int n)
{
	for (int i = 0; i < 2 * n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			execl(i % 2 ? "/nonexistent/true" : "/bin/true", "true", "a", "b", NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
}

static void do_open(int n)
{
	for (int i = 0; i < n; i++) {
		int fd = open(in("data"), O_RDWR | O_CREAT, 0600);

		must(fd >= 0, "open");
		close(fd);
		open(in("nosuch"), O_RDONLY);
	}
}

static void do_stat(int n)
{
	struct stat st;

	for (int i = 0; i < n; i++) {
		must(stat(dir, &st) == 0, "stat");
		must(access(in("nosuch"), R_OK) < 0, "access");
	}
}

/* N writes of 1000 bytes and N reads of 500 of a file, N writes of 10 bytes to a pipe */
static void do_rw(int n)
{
	char buf[1000] = {0};
	int p[2], fd = open(in("data"), O_RDWR | O_CREAT | O_TRUNC, 0600);

	must(fd >= 0 && pipe(p) == 0, "open");
	for (int i = 0; i < n; i++) {
		must(write(fd, buf, 1000) == 1000, "write");
		must(pread(fd, buf, 500, 0) == 500, "pread");
		must(write(p[1], buf, 10) == 10, "write");
	}
}

static void do_sync(int n)
{
	int fd = open(in("data"), O_RDWR | O_CREAT, 0600);

	for (int i = 0; i < n; i++)
		must(write(fd, "x", 1) == 1 && fsync(fd) == 0 && fdatasync(fd) == 0, "fsync");
}

/* N pages of a file that are not in memory, then N that are; each by a read of its own, without reading ahead */
static void do_cache(int n)
{
	static char page[4096];
	int fd = open(in("data"), O_RDWR | O_CREAT | O_TRUNC, 0600);

	must(fd >= 0, "open");
	for (int i = 0; i < n; i++)
		must(write(fd, page, sizeof(page)) == sizeof(page), "write");
	must(fsync(fd) == 0 && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0, "fadvise");
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < n; i++)
			must(pread(fd, page, sizeof(page), (off_t)i * 4096) == sizeof(page), "pread");
}

/* N writes of 4096 bytes one after the other, N reads of 8192 from the beginning: past the page cache */
static void do_direct(int n)
{
	char *buf = aligned_alloc(4096, 8192);
	int fd = open(in("data"), O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0600);

	memset(buf, 1, 8192);
	must(fd >= 0 && posix_fallocate(fd, 0, n * 4096L + 8192) == 0, "open");
	must(fsync(fd) == 0, "fsync");
	for (int i = 0; i < n; i++)
		must(pwrite(fd, buf, 4096, i * 4096L) == 4096, "pwrite");
	for (int i = 0; i < n; i++)
		must(pread(fd, buf, 8192, 0) == 8192, "pread");
}

static void do_sleep(int n)
{
	struct timespec ms = {0, 1000000};

	for (int i = 0; i < n; i++)
		nanosleep(&ms, NULL);
}

/* sleeps until it has given up the CPU N times: a timer may expire before the thread sleeps, when the machine stumbles */
static void do_switch(int n)
{
	struct timespec ms = {0, 1000000};
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	for (long to = u.ru_nvcsw + n; u.ru_nvcsw < to; getrusage(RUSAGE_SELF, &u))
		nanosleep(&ms, NULL);
}

/* there and back: N times to another CPU */
static void do_move(int n)
{
	cpu_set_t set;

	for (int i = 0; i <= n; i++) {
		CPU_ZERO(&set);
		CPU_SET(i % 2, &set);
		must(sched_setaffinity(0, sizeof(set), &set) == 0, "sched_setaffinity");
	}
}

static void do_futex(int n)
{
	static int word;
	struct timespec ms = {0, 1000000};

	for (int i = 0; i < n; i++) {
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &ms, NULL, 0);
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
}

void *volatile keep;
__attribute__((noinline)) void leaks(int size)
{
	keep = malloc(size);
}

/* N pieces of 1000 bytes that are kept, N of 100 that are freed, N of 10 * 7 */
static void do_malloc(int n)
{
	for (int i = 0; i < n; i++) {
		leaks(1000);
		keep = malloc(100);
		free(keep);
		keep = calloc(10, 7);
		free(keep);
	}
}

static void do_brk(int n)
{
	for (int i = 0; i < n; i++) {
		must(sbrk(65536) != (void *)-1, "sbrk");
		must(mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED, "mmap");
	}
}

/* N pages of zeros */
__attribute__((noinline)) void touches(char *p, int n)
{
	for (int i = 0; i < n; i++)
		p[i * 4096L] = 1;
}

static void do_touch(int n)
{
	char *p = mmap(NULL, n * 4096L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(p != MAP_FAILED && madvise(p, n * 4096L, MADV_NOHUGEPAGE) == 0, "mmap");
	touches(p, n);
}

static void do_shm(int n)
{
	for (int i = 0; i < n; i++) {
		int id = shmget(IPC_PRIVATE, 12288, IPC_CREAT | 0600);
		void *p = id < 0 ? NULL : shmat(id, NULL, 0);

		must(p && shmdt(p) == 0 && shmctl(id, IPC_RMID, NULL) == 0, "shm");
	}
}

static void do_chroot(int n)
{
	for (int i = 0; i < n; i++)
		must(chroot("/") == 0, "chroot");
}

/* N samples' worth of computing, at 99 Hz: N / 99 seconds of CPU time */
__attribute__((noinline)) void spins(double seconds)
{
	struct timespec t;
	volatile unsigned x = 0;

	do {
		for (int i = 0; i < 100000; i++)
			x += i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while (t.tv_sec + t.tv_nsec / 1e9 < seconds);
}

static void do_spin(int n)
{
	spins(n / 99.0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(int n);
	} loads[] = {
	    {"kill", do_kill}, {"threads", do_threads}, {"children", do_children}, {"exec", do_exec}, {"open", do_open},
	    {"stat", do_stat}, {"rw", do_rw}, {"sync", do_sync}, {"cache", do_cache}, {"direct", do_direct},
	    {"sleep", do_sleep}, {"switch", do_switch}, {"move", do_move}, {"futex", do_futex}, {"malloc", do_malloc}, {"brk", do_brk},
	    {"touch", do_touch}, {"shm", do_shm}, {"chroot", do_chroot}, {"spin", do_spin},
	};

	if (argc > 3)
		dir = argv[3];
	for (size_t i = 0; argc > 2 && i < sizeof(loads) / sizeof(loads[0]); i++)
		if (strcmp(argv[1], loads[i].name) == 0) {
			loads[i].run(atoi(argv[2]));
			return 0;
		}
	fprintf(stderr, "usage: load WHAT N [DIRECTORY]\n");
	return 2;
}

/*
 * locks: threads that want the same lock of the kernel at the same time, until each thread has
 * contended N times for each kind: a mutex (the offset of an open file), a readers-writer semaphore
 * (the memory of a process, a directory), a spin lock (the queue of a futex). Then two threads on
 * one CPU read a large file with one offset: one that gets the CPU finds the mutex taken by one
 * that does not run, and sleeps.
 *
 *	locks N [THREADS]
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int n, fd;
static char dir[] = "/tmp/locks.XXXXXX";
static int word;

static void *fight(void *arg)
{
	char b[4096], a[80], c[80];
	long me = (long)arg;

	snprintf(a, sizeof(a), "%s/a%ld", dir, me);
	snprintf(c, sizeof(c), "%s/b%ld", dir, me);
	for (int i = 0; i < n; i++) {
		char *p =
		    mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		lseek(fd, 0, SEEK_SET); /* f_pos_lock */
		if (read(fd, b, sizeof(b)) < 0)
			exit(1);
		for (int k = 0; p != MAP_FAILED && k < 4; k++)
			((volatile char *)p)[k * 4096] = 1;
		munmap(p, 16384);
		close(open(a, O_CREAT | O_RDWR, 0600));
		rename(a, c);
		unlink(c);
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	return NULL;
}

#define LARGE (8 << 20)

static void *sleep_for_it(void *arg)
{
	char *b = malloc(LARGE);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (int i = 0; b && i < n / 4 + 20; i++) {
		lseek(fd, 0, SEEK_SET);
		if (read(fd, b, LARGE) < 0)
			exit(1);
	}
	free(b);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	int threads = argc > 2 ? atoi(argv[2]) : 8;

	n = argc > 1 ? atoi(argv[1]) : 100;
	fd = open(argv[0], O_RDONLY);
	if (fd < 0 || !mkdtemp(dir))
		return 1;
	for (long i = 0; i < threads && i < 64; i++)
		pthread_create(&t[i], NULL, fight, (void *)i);
	for (int i = 0; i < threads && i < 64; i++)
		pthread_join(t[i], NULL);
	close(fd);
	fd = open("/dev/shm", O_TMPFILE | O_RDWR, 0600);
	if (fd < 0 || ftruncate(fd, LARGE) < 0)
		return 1;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, sleep_for_it, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	rmdir(dir);
	return 0;
}

/*
 * load DIR N: a known number of everything that the scripts in test/compat/scripts count. Below DIR, which must exist:
 *
 *	data	N writes of 1000 bytes, N/2 writes of 24, then reads of 512 until the end
 *	nosuch	N times opened in vain
 *	mode	created, its mode changed to 0640 and to 04755; 3 lseek() of each kind; access() R_OK and F_OK
 *
 * and N mappings of 64 KB, N/2 signals to itself, N/10 sleeps of 2 ms, N/4 children that end with status 3 and 2 that
 * execute /bin/true.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void on_signal(int sig)
{
	(void)sig;
	handled++;
}

static const char *path_of(const char *dir, const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void files(const char *dir, int n)
{
	static char buf[1000];
	int fd = open(path_of(dir, "data"), O_RDWR | O_CREAT | O_TRUNC, 0600);

	for (int i = 0; i < n; i++)
		if (write(fd, buf, 1000) != 1000)
			exit(1);
	for (int i = 0; i < n / 2; i++)
		if (write(fd, buf, 24) != 24)
			exit(1);
	lseek(fd, 0, SEEK_SET);
	while (read(fd, buf, 512) > 0)
		;
	close(fd);
	for (int i = 0; i < n; i++)
		open(path_of(dir, "nosuch"), O_RDONLY);

	fd = open(path_of(dir, "mode"), O_RDWR | O_CREAT, 0600);
	chmod(path_of(dir, "mode"), 0640);
	chmod(path_of(dir, "mode"), 04755);
	for (int i = 0; i < 3; i++) {
		lseek(fd, 100, SEEK_SET);
		lseek(fd, 10, SEEK_CUR);
		lseek(fd, 0, SEEK_END);
	}
	access(path_of(dir, "mode"), R_OK);
	access(path_of(dir, "mode"), F_OK);
	close(fd);
}

static void memory(int n)
{
	for (int i = 0; i < n; i++) {
		void *p = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		munmap(p, 65536);
	}
}

static void children(int n)
{
	char path[] = "/bin/true"; /* as in a shell: in memory, not in a page of the file that a child has to fault in first */

	for (int i = 0; i < n + 2; i++) {
		pid_t pid = fork();

		if (pid == 0 && i < n)
			_exit(3);
		if (pid == 0) {
			execl(path, "true", "of", "load", (char *)NULL);
			_exit(127);
		}
		waitpid(pid, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	struct timespec ms = {0, 2000000};
	int n = argc > 2 ? atoi(argv[2]) : 40;

	if (argc < 2)
		return 2;
	signal(SIGUSR1, on_signal);
	files(argv[1], n);
	memory(n);
	for (int i = 0; i < n / 2; i++)
		raise(SIGUSR1);
	for (int i = 0; i < n / 10; i++)
		nanosleep(&ms, NULL);
	children(n / 4);
	return 0;
}

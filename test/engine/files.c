/*
 * files DIR: opens files of every kind below DIR and prints what /proc, lseek() and fcntl() report
 * for each, in the format of fds.sh; getpgid(descriptor) shows it to the tracer. With a second
 * argument it works below that root directory.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void show(int fd)
{
	char name[64], path[4097] = "";
	long pos = lseek(fd, 0, SEEK_CUR);

	if (fd < 0) {
		perror("files");
		exit(1);
	}
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (readlink(name, path, sizeof(path) - 1) < 0)
		snprintf(path, sizeof(path), "?");
	printf("%d %.256s %ld %x\n", fd, path, pos < 0 ? 0 : pos, fcntl(fd, F_GETFL));
	syscall(SYS_getpgid, fd);
}

/* A path of `parts` directories with names of 40 characters. */
static int deep(int parts)
{
	int fd = open(".", O_RDONLY | O_DIRECTORY);
	char name[48];

	for (int i = 0; i < parts && fd >= 0; i++) {
		int next;

		snprintf(name, sizeof(name), "%040d", i);
		mkdirat(fd, name, 0700);
		next = openat(fd, name, O_RDONLY | O_DIRECTORY);
		close(fd);
		fd = next;
	}
	return fd;
}

int main(int argc, char **argv)
{
	int fd, pair[2];

	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc < 2 || chdir(argv[1]) < 0)
		return 2;
	fd = open("plain", O_RDWR | O_CREAT | O_APPEND, 0600);
	if (write(fd, "hello", 5) != 5)
		return 1;
	show(fd);
	show(open("plain", O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	fd = open("gone", O_RDWR | O_CREAT, 0600);
	unlink("gone");
	show(fd);
	show(open(".", O_RDONLY | O_DIRECTORY));
	show(open("/", O_RDONLY | O_DIRECTORY));
	show(open("/dev/null", O_WRONLY));
	show(open("/proc/self/stat", O_RDONLY));
	mkdir("dir with blanks", 0700);
	show(open("dir with blanks", O_RDONLY | O_DIRECTORY));
	show(deep(3));
	show(deep(20));
	if (pipe(pair) == 0) {
		show(pair[0]);
		show(pair[1]);
	}
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0)
		show(pair[0]);
	show(eventfd(0, 0));
	show(epoll_create1(0));
	show(memfd_create("some memory", 0));
	syscall(SYS_getpgid, 1000); /* no such descriptor */
	syscall(SYS_getpgid, -1);
	if (mkdir("jail", 0700) == 0 || errno == EEXIST) { /* paths begin at the process's own root */
		fd = open("jail/inside", O_RDWR | O_CREAT, 0600);
		if (chroot("jail") == 0 && chdir("/") == 0) {
			printf("%d /inside 0 %x\n", fd, fcntl(fd, F_GETFL));
			syscall(SYS_getpgid, fd);
			fd = open("/", O_RDONLY | O_DIRECTORY);
			printf("%d / 0 %x\n", fd, fcntl(fd, F_GETFL));
			syscall(SYS_getpgid, fd);
			syscall(SYS_getsid, 0);
		}
	}
	return 0;
}

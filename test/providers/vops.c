/* vops DIR N: between getppid() and getpgid(), N times each operation of a file system (vfs.sh has
 * the list). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static void must(long rc, const char *what)
{
	if (rc < 0) {
		perror(what);
		exit(1);
	}
}

static void by_descriptor(void)
{
	int fd = open("file", O_RDWR | O_CREAT | O_EXCL, 0600);
	char text[100] = "text";
	struct stat st;
	off_t from = 0, to = 8192;

	must(fd, "open");
	must(write(fd, text, sizeof(text)), "write");
	must(pread(fd, text, sizeof(text), 0), "pread");
	must(fsync(fd), "fsync");
	must(fallocate(fd, 0, 0, 4096), "fallocate");
	must(copy_file_range(fd, &from, fd, &to, 100, 0), "copy_file_range");
	must(fstat(fd, &st), "fstat");
	must(fchmod(fd, 0644), "fchmod");
	must(fsetxattr(fd, "trusted.test", "x", 1, 0), "fsetxattr");
	must(fgetxattr(fd, "trusted.test", text, sizeof(text)), "fgetxattr");
	must(flistxattr(fd, text, sizeof(text)), "flistxattr");
	must(fremovexattr(fd, "trusted.test"), "fremovexattr");
	must(close(fd), "close");
}

static void by_name(void)
{
	char text[4096];
	int fd;

	must(link("file", "other"), "link");
	must(symlink("file", "symbolic"), "symlink");
	must(readlink("symbolic", text, sizeof(text)), "readlink");
	must(rename("other", "another"), "rename");
	must(mkfifo("pipe", 0600), "mkfifo");
	must(unlink("file"), "unlink");
	must(unlink("another"), "unlink");
	must(unlink("symbolic"), "unlink");
	must(unlink("pipe"), "unlink");
	must(mkdir("dir", 0700), "mkdir");
	fd = open("dir", O_RDONLY | O_DIRECTORY);
	must(fd, "open");
	must(syscall(SYS_getdents64, fd, text, sizeof(text)), "getdents64");
	must(close(fd), "close");
	if (mkdir("dir", 0700) == 0 || errno != EEXIST)
		exit(1);
	must(rmdir("dir"), "rmdir");
	if (access("missing", F_OK) == 0)
		exit(1);
}

int main(int argc, char **argv)
{
	if (argc < 3 || chdir(argv[1]) < 0)
		return 2;
	if (access("/not-there-at-all", F_OK) == 0)
		return 2;
	getppid();
	for (int i = 0; i < atoi(argv[2]); i++) {
		by_descriptor();
		by_name();
	}
	syscall(SYS_getpgid, 0);
	access("/not-there-at-all", F_OK);
	access("/not-there-at-all", F_OK);
	return 0;
}

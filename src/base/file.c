/*
 * file: reads whole files of file systems such as /proc, which do not report file sizes, and opens
 * files named by a process or a user of another privilege, which may be anything.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"

#define FIRST	  16384
#define READ_LEFT 4096 /* space for each read; files of /proc come a page at a time */

char *dt_slurp(int dir, const char *path, size_t *len)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC), error;
	size_t cap = FIRST, n = 0;
	ssize_t got;
	char *s;

	if (fd < 0)
		return NULL;
	s = dt_xmalloc(cap + 1);
	while ((got = read(fd, s + n, cap - n)) > 0 || (got < 0 && errno == EINTR)) {
		n += got > 0 ? (size_t)got : 0;
		if (cap - n < READ_LEFT)
			s = dt_xrealloc(s, (cap *= 2) + 1);
	}
	error = errno;
	close(fd);
	if (got < 0) { /* half of it would be taken for all */
		free(s);
		errno = error;
		return NULL;
	}
	s[n] = 0;
	*len = n;
	return s;
}

/* ---- files that others name ---- */

#define ATTEMPTS 3 /* while directories are being moved the kernel asks to try again */

/* "/proc/PID/root/PATH" and "/proc/self/fd/N/PATH" -> PATH; NULL: none of these. */
static const char *inside_root(const char *path)
{
	static const char *const forms[] = {"/proc/%*[0-9]/root/%n", "/proc/self/root/%n",
					    "/proc/self/fd/%*[0-9]/%n"};

	for (size_t i = 0; i < DT_NELEM(forms); i++) {
		int n = 0;

		sscanf(path, forms[i], &n);
		if (n && path[n])
			return path + n;
	}
	return NULL;
}

int dt_open_path(int dir, const char *path, int flags)
{
	const char *rest = dir == AT_FDCWD ? inside_root(path) : NULL;
	struct open_how how = {.flags = (uint64_t)(uint32_t)(O_PATH | O_CLOEXEC | flags),
			       .resolve = RESOLVE_IN_ROOT};
	int fd = -1, root, error;
	char *of;

	if (!rest)
		return openat(dir, path, O_PATH | O_CLOEXEC | flags);
	of = dt_xasprintf("%.*s", (int)(rest - path), path);
	root = open(of, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(of);
	if (root < 0)
		return -1;
	for (int i = 0; i < ATTEMPTS && fd < 0 && (i == 0 || errno == EAGAIN); i++)
		fd = (int)syscall(SYS_openat2, root, rest, &how, sizeof(how));
	error = errno;
	close(root);
	errno = error;
	return fd;
}

/* Opening a device or a FIFO can act (rewind a tape, wait for a writer). An O_PATH descriptor only
 * names the file, so the file is checked through it, and opened once it is known to be harmless. */
int dt_open_regular(int dir, const char *path, int flags, uint64_t max, dt_error *err)
{
	int at = dt_open_path(dir, path, flags & O_NOFOLLOW), fd = -1;
	dt_error own;
	struct stat st;
	char self[64];

	err = err ? err : &own;

	if (at < 0 || fstat(at, &st) < 0) {
		dt_err(err, errno, "%s: %s", path, dt_strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		dt_err(err,
		       S_ISLNK(st.st_mode)   ? ELOOP
		       : S_ISDIR(st.st_mode) ? EISDIR
					     : EINVAL,
		       "%s: not a regular file", path);
	} else if ((uint64_t)st.st_size > max) {
		dt_err(err, EFBIG, "%s: larger than %llu MB", path, (unsigned long long)max >> 20);
	} else {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", at);
		fd = open(self, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		if (fd < 0)
			dt_err(err, errno, "%s: %s", path, dt_strerror(errno));
	}
	if (at >= 0)
		close(at);
	if (fd < 0)
		errno = err->code;
	return fd;
}

bool dt_file_has_hole(int fd, uint64_t offset, uint64_t n)
{
	off_t hole;

	if (n == 0 || offset > INT64_MAX || n > INT64_MAX - offset)
		return n != 0;
	hole = lseek(fd, (off_t)offset, SEEK_HOLE);
	return hole >= 0 && (uint64_t)hole < offset + n;
}

void dt_allow_descriptors(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < r.rlim_max) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
}

uint64_t dt_memory_used(void)
{
	unsigned long long all, resident = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f && fscanf(f, "%llu %llu", &all, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

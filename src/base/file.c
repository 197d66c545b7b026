/*
 * file: whole files of file systems such as /proc, which do not know how large their files are.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"

#define FIRST	  16384
#define READ_LEFT 4096 /* room that a read shall have; files of /proc come a page at a time */

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
	if (got < 0) { /* half of it would pass for all */
		free(s);
		errno = error;
		return NULL;
	}
	s[n] = 0;
	*len = n;
	return s;
}

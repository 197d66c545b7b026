/*
 * tracefs: see tracefs.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/base.h"
#include "kernel/lockdown.h"
#include "kernel/mount.h"
#include "kernel/tracefs.h"

static int open_mounted(void)
{
	static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

	for (size_t i = 0; i < DT_NELEM(places); i++) {
		int fd = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0 && faccessat(fd, "events", R_OK, AT_EACCESS) == 0)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	errno = ENOENT;
	return -1;
}

/*
 * Not when the kernel is locked down to confidentiality: tracefs is then hidden and, worse, was
 * never populated, so that our mount would be its first, and unmounting it would destroy it; Linux
 * 6.12 crashes on that (tracefs_destroy_inode).
 */
static int open_private(void)
{
	if (dt_lockdown() == DT_LOCKDOWN_CONFIDENTIALITY) {
		errno = EPERM;
		return -1;
	}
	return dt_private_mount("tracefs");
}

int dt_tracefs_open(void)
{
	int fd = open_mounted();

	return fd >= 0 ? fd : open_private();
}

/*
 * tracefs: see tracefs.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/base.h"
#include "sym/tracefs.h"

static int open_mounted(void)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

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

/* A mount that is attached nowhere (Linux 5.2). */
static int open_private(void)
{
	int fs = fsopen("tracefs", FSOPEN_CLOEXEC), mnt = -1;

	if (fs < 0)
		return -1;
	if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		mnt = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	int saved = errno;
	close(fs);
	errno = saved;
	return mnt;
}

int dt_tracefs_open(void)
{
	int fd = open_mounted();

	return fd >= 0 ? fd : open_private();
}

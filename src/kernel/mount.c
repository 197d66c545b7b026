/*
 * mount: see mount.h.
 */
#include <errno.h>
#include <sys/mount.h>
#include <unistd.h>

#include "kernel/mount.h"

int dt_private_mount(const char *fs)
{
	int context = fsopen(fs, FSOPEN_CLOEXEC), mnt = -1, saved;

	if (context < 0)
		return -1;
	if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		mnt = fsmount(context, FSMOUNT_CLOEXEC, 0);
	saved = errno;
	close(context);
	errno = saved;
	return mnt;
}

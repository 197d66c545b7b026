/*
 * lockdown: see lockdown.h. The kernel shows it in securityfs, which may be unmounted; then a
 * private mount is used. A kernel without the file has no lockdown.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "kernel/lockdown.h"
#include "kernel/mount.h"

static int open_state(void)
{
	int fd = open("/sys/kernel/security/lockdown", O_RDONLY | O_CLOEXEC), mnt;

	if (fd >= 0)
		return fd;
	mnt = dt_private_mount("securityfs");
	if (mnt < 0)
		return -1;
	fd = openat(mnt, "lockdown", O_RDONLY | O_CLOEXEC);
	close(mnt);
	return fd;
}

enum dt_lockdown dt_lockdown(void)
{
	char text[128] = ""; /* "none [integrity] confidentiality" */
	int fd = open_state();
	ssize_t n;

	if (fd < 0)
		return DT_LOCKDOWN_NONE;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return DT_LOCKDOWN_NONE;
	return strstr(text, "[confidentiality]") ? DT_LOCKDOWN_CONFIDENTIALITY
	       : strstr(text, "[integrity]")	 ? DT_LOCKDOWN_INTEGRITY
						 : DT_LOCKDOWN_NONE;
}

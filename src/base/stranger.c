/*
 * stranger: a user for a helper of root that works on foreign data.
 *
 * Not "nobody": whoever else runs as nobody could stop or kill the helper, and read its memory. So
 * each helper is a user of its own, from numbers that are given to no one (above 2^31), by its
 * process id. In a namespace that has no such numbers it is nobody.
 *
 * By direct system calls: the functions of the C library would search for other threads, and after
 * fork() there are none.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"

#define NOBODY 65534u
#define LONELY 0x80000000u /* plus a process id, which is below 2^22 */

static int become(uint32_t user)
{
	return (int)syscall(SYS_setresuid, user, user, user);
}

int dt_become_stranger(void)
{
	if (syscall(SYS_setgroups, 0, NULL) < 0 ||
	    syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY) < 0)
		return -1;
	return become(LONELY + (uint32_t)getpid()) == 0 ? 0 : become(NOBODY);
}

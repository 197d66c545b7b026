/* remote for aarch64: the process engine is not available on this CPU. */
#include <errno.h>

#include "arch/remote.h"

const uint8_t dt_remote_code[DT_REMOTE_CODE] = {0};

long dt_remote_call(const struct dt_remote *r, pid_t tid, int signal, long number, const uint64_t args[6])
{
	(void)r, (void)tid, (void)signal, (void)number, (void)args;
	return -ENOSYS;
}

/* For LD_PRELOAD: the kernel has no memory in the middle of every second batch. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>

int bpf_map_update_batch(int fd, const void *keys, const void *values, uint32_t *count, const void *opts)
{
	static int (*real)(int, const void *, const void *, uint32_t *, const void *);
	static unsigned calls;
	int rc;

	if (!real)
		real = (int (*)(int, const void *, const void *, uint32_t *, const void *))dlsym(RTLD_NEXT, __func__);
	if (calls++ % 2 == 0 || *count < 2)
		return real(fd, keys, values, count, opts);
	*count /= 2;
	rc = real(fd, keys, values, count, opts);
	errno = ENOMEM;
	return rc < 0 ? rc : -ENOMEM;
}

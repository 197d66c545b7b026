/* For LD_PRELOAD: the kernel refuses programs while the file $REFUSE exists. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int bpf_prog_load(int type, const char *name, const char *license, const void *insns, size_t n, void *opts)
{
	static int (*real)(int, const char *, const char *, const void *, size_t, void *);

	if (!real)
		real = (int (*)(int, const char *, const char *, const void *, size_t, void *))dlsym(RTLD_NEXT, __func__);
	if (access(getenv("REFUSE"), F_OK) == 0) {
		errno = ENOMEM;
		return -ENOMEM;
	}
	return real(type, name, license, insns, n, opts);
}

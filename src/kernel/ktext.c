/*
 * ktext: see ktext.h. /proc/kcore is an ELF file whose segments are the kernel's memory by address.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"
#include "kernel/ktext.h"

/* Where in the file an address is; -1: nowhere. */
static off_t find(int fd, uint64_t addr, size_t n)
{
	Elf64_Ehdr h;
	Elf64_Phdr *p;
	size_t size;
	off_t at = -1;

	if (pread(fd, &h, sizeof(h), 0) != sizeof(h) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
	    h.e_phentsize != sizeof(*p))
		return -1;
	size = (size_t)h.e_phnum * sizeof(*p);
	p = dt_xmalloc(size + 1);
	if (pread(fd, p, size, (off_t)h.e_phoff) == (ssize_t)size)
		for (int i = 0; i < h.e_phnum && at < 0; i++)
			if (p[i].p_type == PT_LOAD && addr >= p[i].p_vaddr && p[i].p_memsz >= n &&
			    addr - p[i].p_vaddr <= p[i].p_memsz - n)
				at = (off_t)(p[i].p_offset + (addr - p[i].p_vaddr));
	free(p);
	return at;
}

int dt_ktext_read(uint64_t addr, void *to, size_t n)
{
	int fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC), error;
	ssize_t got = -1;
	off_t at;

	if (fd < 0)
		return -1;
	errno = EFAULT;
	at = find(fd, addr, n);
	if (at >= 0)
		got = pread(fd, to, n, at);
	error = got >= 0 ? EFAULT : errno;
	close(fd);
	errno = error;
	return got == (ssize_t)n ? 0 : -1;
}

/* ktext: the kernel's machine code as it is now, from /proc/kcore. Root only, and not in lockdown
 * (confidentiality). */
#ifndef DT_KERNEL_KTEXT_H
#define DT_KERNEL_KTEXT_H

#include <stddef.h>
#include <stdint.h>

/* n bytes at a kernel address; 0, or -1 with errno. */
int dt_ktext_read(uint64_t addr, void *to, size_t n);

#endif

/* privilege: may this process trace, and if not, what would allow it. */
#ifndef DT_KERNEL_PRIVILEGE_H
#define DT_KERNEL_PRIVILEGE_H

#include <stdbool.h>
#include <stddef.h>

bool dt_privilege_has(int capability); /* CAP_SYS_PTRACE ... */
/* It has CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN, which includes both. */
bool dt_privilege_to_trace(void);
/* The rest of the sentence "the kernel refuses this: ", after EPERM. */
void dt_privilege_advice(char *to, size_t n);

#endif

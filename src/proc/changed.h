/*
 * changed: code in the memory of a process that is not that of its file.
 *
 * When a thread reaches a uprobe the kernel executes the instruction that the file has, and goes on behind it. Where the
 * process, or another tracer (-x engine=process), has put other instructions, that ends the process. Nothing else tells: the kernel
 * does not look.
 */
#ifndef DT_PROC_CHANGED_H
#define DT_PROC_CHANGED_H

#include "base/base.h"

typedef struct dt_changed dt_changed;

/* The code of this file in a living process. NULL: nothing of it has been changed, or that cannot be known. */
dt_changed *dt_changed_new(long pid, const char *path);
/* Has the instruction at this offset of the file? What the kernel puts there for uprobes does not count. */
bool dt_changed_has(const dt_changed *c, uint64_t offset);
void dt_changed_free(dt_changed *c); /* NULL is allowed */

#endif

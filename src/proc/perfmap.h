/*
 * perfmap: names of code that a JIT compiler has made, from /tmp/perf-PID.map.
 *
 * node (--perf-basic-prof), python (-X perf) and Java (jcmd Compiler.perfmap, or an agent) write a
 * line per function: address and size in hexadecimal, and a name. The file grows while the process
 * runs; more of it is read when an address is not found. When code memory is reused, the later line
 * counts. Every user can create a file there, so it is used only if it belongs to a user who could
 * change the process as well.
 */
#ifndef DT_PROC_PERFMAP_H
#define DT_PROC_PERFMAP_H

#include <sys/types.h>

#include "base/base.h"
#include "jail/jail.h"

typedef struct dt_perfmap dt_perfmap;

/* The path is where we can open the file; it need not exist yet. may_own tells whose file is
 * accepted (NULL: any user's); jail reads it (NULL: this process does). */
dt_perfmap *dt_perfmap_new(const char *path, dt_jail *jail, bool (*may_own)(void *arg, uid_t uid), void *arg);
void dt_perfmap_free(dt_perfmap *pm);
/* The name lives until the next look-up. NULL: unknown. */
const char *dt_perfmap_find(dt_perfmap *pm, uint64_t addr, uint64_t *start);
size_t dt_perfmap_memory(const dt_perfmap *pm);
/* Lines of text, for tests and for callers that have them from elsewhere. */
void dt_perfmap_add(dt_perfmap *pm, const char *text, size_t n);
/* A helper's answer about a piece of the file; false: invalid. Also for tests and the fuzzer. */
bool dt_perfmap_take(dt_perfmap *pm, const dt_buf *answer);

#endif

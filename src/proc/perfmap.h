/*
 * perfmap: names of code that a JIT compiler has made, from /tmp/perf-PID.map.
 *
 * node (--perf-basic-prof), python (-X perf) and Java (jcmd Compiler.perfmap, or an agent) write a
 * line per function: address and size in hexadecimal, and a name. The file grows while the process
 * runs; it is read on when an address is not found. When code memory is used again, the later line
 * counts.
 */
#ifndef DT_PROC_PERFMAP_H
#define DT_PROC_PERFMAP_H

#include "base/base.h"

typedef struct dt_perfmap dt_perfmap;

/* The path is where we reach the file; it need not exist yet. */
dt_perfmap *dt_perfmap_new(const char *path);
void dt_perfmap_free(dt_perfmap *pm);
/* The name lives until the next look-up. NULL: unknown. */
const char *dt_perfmap_find(dt_perfmap *pm, uint64_t addr, uint64_t *start);
size_t dt_perfmap_memory(const dt_perfmap *pm);
/* Lines of text, for tests and for those who have them from elsewhere. */
void dt_perfmap_add(dt_perfmap *pm, const char *text, size_t n);

#endif

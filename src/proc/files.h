/*
 * files: the files that processes have mapped, each stored once.
 *
 * A path is meaningful only with its root directory: a container has its own. A descriptor of each
 * root is kept, so that files are found after the last process inside has ended.
 */
#ifndef DT_PROC_FILES_H
#define DT_PROC_FILES_H

#include "proc/sideband.h"

typedef struct dt_files dt_files;

dt_files *dt_files_new(dt_jail *jail); /* it reads build ids; NULL: this process does */
void dt_files_free(dt_files *fs);
/* The root that the process has; `otherwise` when it is gone. 0 is our own. */
uint32_t dt_files_root_of(dt_files *fs, long pid, uint32_t otherwise);
/* The file with this path, root and identity; created if necessary. All but id and base are taken
 * from
 * *like (path is copied, " (deleted)" cut off); the pid is remembered as the latest that maps it.
 */
dt_file *dt_files_get(dt_files *fs, const dt_file *like);
/* Mark it as used: it is forgotten last. */
void dt_files_use(dt_files *fs, const dt_file *f);
/* Are there more than the budget allows? Then the half that was last used longest ago, at the time returned or before,
 * must be removed: first the references to them, then the files by dt_files_forget(). */
bool dt_files_are_many(const dt_files *fs);
uint64_t dt_files_older_half(const dt_files *fs);
void dt_files_forget(dt_files *fs, uint64_t until);
/* See dt_sideband_open_file, dt_sideband_root. */
int dt_files_open(dt_files *fs, const dt_file *f);
void dt_files_root_path(const dt_files *fs, uint32_t root, char *to, size_t n);

#endif

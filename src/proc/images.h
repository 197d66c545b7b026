/*
 * images: what every process has mapped, and had mapped before.
 *
 * A process has images: one since its fork, one since each exec; the newest few are kept, and those
 * of an earlier process with the same number as well. Fork shares the mappings of the parent until one
 * of them maps something more. Mappings are in the order in which they were made; the kernel does
 * not report when they are removed, so the last one that covers an address counts.
 */
#ifndef DT_PROC_IMAGES_H
#define DT_PROC_IMAGES_H

#include <sys/types.h>

#include "proc/files.h"

typedef struct dt_images dt_images;

#define FORGOTTEN UINT64_MAX

typedef struct dt_process {
	long pid;
	uint32_t root; /* see files.h */
	bool has_owner;
	uid_t uid, root_uid; /* the last result of dt_proc_owner() */
	bool exited;
	bool kept;		 /* not to be forgotten */
	uint64_t read_at;	 /* when /proc was last read; 0: never */
	uint64_t read_again;	 /* the same, because an address was unknown */
	uint64_t unread_at;	 /* when /proc refused that, or showed no mappings: it had ended, or was about to; 0: it did not */
	uint64_t losses;	 /* number of lost events when it was read; FORGOTTEN: mappings were dropped since then */
	struct dt_image *images; /* newest first; never NULL */
	uint32_t nimages;
	struct dt_process *hash_next, *dead_next;
} dt_process;

dt_images *dt_images_new(void);
void dt_images_free(dt_images *im);
dt_process *dt_images_get(dt_images *im, long pid); /* NULL: unknown */
dt_process *dt_images_make(dt_images *im, long pid,
			   uint64_t since); /* created with an empty image if necessary */
void dt_images_fork(dt_images *im, dt_process *parent, long pid, uint64_t time);
void dt_images_exec(dt_images *im, dt_process *p, uint64_t time);
void dt_images_exit(dt_images *im, dt_process *p); /* may forget others that died long ago */
void dt_images_map(dt_process *p, const dt_umap *m);
/* Those that are kept and have not ended: their ids, for dt_vec_release(). */
long *dt_images_kept(const dt_images *im, uint32_t *n);
/* The files of processes that are kept count as used now, a limited number of them: others may map very many. */
void dt_images_use_kept(dt_images *im, dt_files *fs);
/* Remove the mappings of files that were last used at `until` or before. */
void dt_images_drop_files(dt_images *im, uint64_t until);
bool dt_images_is_newest(const dt_process *p, uint64_t time); /* is its image of that time the last one? */
/* Of the image in effect at that time, then of the others. */
bool dt_images_find(const dt_process *p, uint64_t time, uint64_t addr, dt_umap *m);
bool dt_images_next(const dt_process *p, uint64_t time, uint32_t *it, dt_umap *m);

#endif

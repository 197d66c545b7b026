/*
 * sideband: what every process maps, from the kernel's side-band events.
 *
 * By the time a stack is printed its process may have exited, or run another program. The kernel
 * reports fork, exec, exit and every executable mapping through perf events (one dummy software
 * event per CPU, nothing is sampled); from these, the images of each process are kept: what was
 * mapped when. A fork shares the mappings of its parent, an exec begins a new image.
 *
 * Processes that existed before are read from /proc: for a few milliseconds at a time, whenever
 * dt_sideband_drain() is called, and at once when one is needed. When events were lost, living
 * processes are read again.
 *
 * It is opened only for programs that use user stacks, user symbols or probes in processes. Without
 * the privilege for perf events it works with /proc alone: then exited processes are unknown unless
 * they were looked up while they lived.
 *
 * Times are those of CLOCK_MONOTONIC in nanoseconds, as D's timestamp. Memory is bounded
 * (base/budget.h): exited processes are forgotten, the oldest first, except those that are kept;
 * the least recently used files are forgotten with their mappings.
 */
#ifndef DT_PROC_SIDEBAND_H
#define DT_PROC_SIDEBAND_H

#include <sys/types.h>

#include "base/base.h"
#include "jail/jail.h"
#include "proc/mappings.h"

typedef struct dt_sideband dt_sideband;

/* A file that was mapped, shared by all processes that map it. Two mappings are of the same file
 * when build id (if known) or device and inode are the same. */
typedef struct dt_file {
	uint32_t id;	  /* from 1; never reused for another file */
	const char *path; /* as the process saw it, without " (deleted)" */
	const char *base; /* its last part */
	uint64_t inode;	  /* 0: unknown (the event had a build id instead) */
	uint32_t dev_major, dev_minor;
	uint8_t build_id[20];
	uint8_t build_id_len; /* 0: unknown */
	bool vdso;
	bool anon; /* no file: memory of a JIT compiler, which hides what was there before; path is
		      "" */
	long pid;  /* a process that maps it: where to find it */
	uint32_t root; /* internal: which root directory the path is below */
	uint64_t used; /* internal: when it was last used, by a count of uses */
} dt_file;

/* One executable mapping of a process. */
typedef struct dt_umap {
	uint64_t start, end, offset;
	uint64_t since;	     /* 0: before tracing */
	const dt_file *file; /* never NULL; valid until the next call of this header */
} dt_umap;

/* jail reads the build ids of files; NULL: this process does. Always succeeds. */
dt_sideband *dt_sideband_open(dt_jail *jail);
/* Detaches and frees everything. */
void dt_sideband_free(dt_sideband *sb);
bool dt_sideband_live(const dt_sideband *sb); /* has perf events */
const char *dt_sideband_refused(const dt_sideband *sb); /* why not; NULL: it has */
/* A descriptor that becomes readable when events should be drained; -1: none. */
int dt_sideband_fd(const dt_sideband *sb);
/* Take all events so far, in order of time. */
void dt_sideband_drain(dt_sideband *sb);
uint64_t dt_sideband_lost(const dt_sideband *sb); /* events lost since the start */

/* What the process had mapped at this address at that time (0: latest; older images are also
 * searched). False: nothing executable. May be anonymous memory. */
bool dt_sideband_find(dt_sideband *sb, long pid, uint64_t time, uint64_t addr, dt_umap *m);
/* The same by the nearest mapping below: for data of an object whose text is mapped. *it starts at
 * 0; gives the mappings of the image in effect, last mapped first. */
bool dt_sideband_next(dt_sideband *sb, long pid, uint64_t time, uint32_t *it, dt_umap *m);
/* Why something about this process is perhaps not known: events were lost, or are refused; or there are more files than are
 * remembered. */
enum dt_sideband_lack { DT_SB_LACKS_NOTHING, DT_SB_LACKS_LOST, DT_SB_LACKS_REFUSED, DT_SB_LACKS_FORGOTTEN };
enum dt_sideband_lack dt_sideband_lacks(const dt_sideband *sb, long pid);
/* Do not forget this process when it has ended: its names will be needed. */
void dt_sideband_keep(dt_sideband *sb, long pid);
/* Has the process ended, as far as is known? False if it was never seen. */
bool dt_sideband_exited(const dt_sideband *sb, long pid);
/* Does /proc still show the process as it was then: is it alive, and does it run the same program? */
bool dt_sideband_is_current(const dt_sideband *sb, long pid, uint64_t time);
/* Open the file: by its path, else through a living process that maps it. It is checked by build id
 * or inode. -1 with errno. */
int dt_sideband_open_file(dt_sideband *sb, const dt_file *f);
/* The directory that stands for "/" of that file's process: "" or "/proc/PID/root" or
 * "/proc/self/fd/N". */
void dt_sideband_root(dt_sideband *sb, const dt_file *f, char *to, size_t n);
/* Could a file of this user belong to the process: is it the process's effective user, now or
 * before, or root (ours or of its user namespace)? */
bool dt_sideband_owns(dt_sideband *sb, long pid, uid_t uid);
/* The path by which we can open a path of the process, even after it has ended. To be freed. */
char *dt_sideband_path(dt_sideband *sb, long pid, const char *path);

/* Report every event while draining, in order of time. MAP: of a file; the map is NULL for
 * the others. Mappings read from /proc are also reported as MAP. */
enum dt_sideband_event { DT_SB_MAP, DT_SB_FORK, DT_SB_EXEC, DT_SB_EXIT };
struct dt_sideband_listener {
	void *arg;
	void (*event)(void *arg, enum dt_sideband_event what, long pid, long parent,
		      const dt_umap *map);
	struct dt_sideband_listener *next; /* ours */
};
/* The listener is the caller's and must live as long as sb, or be removed. */
void dt_sideband_listen(dt_sideband *sb, struct dt_sideband_listener *l);
void dt_sideband_unlisten(dt_sideband *sb, struct dt_sideband_listener *l);

#endif

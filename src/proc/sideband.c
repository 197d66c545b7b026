/*
 * sideband: see sideband.h.
 *
 * Events come from perf_rings.c in order of time and change images.c; files.c knows the files. Only
 * events of executable mappings are requested (attr.mmap without mmap_data); variables of an object
 * are found by their distance from its text.
 *
 * The kernel fills in the build id of a file where it can (Linux 5.12), else device and inode. With
 * either it can be checked later whether a file of that name is still the one that was mapped.
 *
 * Reading /proc and the events can overlap: an event that repeats what /proc showed changes
 * nothing; and an exec that /proc already showed starts its image again, which the following events
 * fill.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/budget.h"
#include "proc/files.h"
#include "proc/hold.h"
#include "proc/images.h"
#include "proc/perf_rings.h"

#define RING_LEAST  DT_KB(512) /* about 400 short-lived processes */
#define RING_MOST   DT_MB(2)   /* while we wait for a CPU, others may compile */
#define RINGS	    DT_MB(8)   /* of all CPUs */
#define FIRST_SLICE 10000000	 /* ns for reading /proc when opened */
#define SLICE	    20000000	 /* and at each drain */
#define READ_AGAIN  100000000	 /* ns between readings of one process that has unknown addresses */

struct dt_sideband {
	dt_perf_rings *rings; /* NULL: refused */
	dt_files *files;
	dt_images *images;
	DIR *scan; /* of /proc; NULL: done */
	char *refused; /* why there are no rings */
	uint64_t lost;
	struct dt_sideband_listener *listeners;
};

static void tell(dt_sideband *sb, enum dt_sideband_event what, long pid, long parent,
		 const dt_umap *map)
{
	for (struct dt_sideband_listener *l = sb->listeners; l; l = l->next)
		l->event(l->arg, what, pid, parent, map);
}

/* Called before a file is looked up, so that the result remains valid while it is used. */
static void make_room(dt_sideband *sb)
{
	uint64_t until;

	if (!dt_files_are_many(sb->files))
		return;
	dt_images_use_kept(sb->images, sb->files);
	until = dt_files_older_half(sb->files);
	dt_images_drop_files(sb->images, until);
	dt_files_forget(sb->files, until);
}

static void add_map(dt_sideband *sb, dt_process *p, const dt_umap *u)
{
	dt_images_map(p, u);
	if (!u->file->anon)
		tell(sb, DT_SB_MAP, p->pid, 0, u);
}

/* ---- /proc ---- */

/* Files; [vdso] and [uprobes], which have at least a name. Everything else is anonymous memory. */
static bool is_anon(const char *path)
{
	return !((path[0] == '/' && path[1] != '/') || strcmp(path, "[vdso]") == 0 ||
		 strcmp(path, "[uprobes]") == 0);
}

/* Its root and its owner, while they can be read. */
static void learn_place(dt_sideband *sb, dt_process *p)
{
	p->root = dt_files_root_of(sb->files, p->pid, p->root);
	p->has_owner = dt_proc_owner(p->pid, &p->uid, &p->root_uid) || p->has_owner;
}

/* A failure to read that says nothing about the process. */
static bool is_passing(int code)
{
	return code == EIO || code == EINTR || code == ENOMEM || code == EMFILE || code == ENFILE;
}

static void read_process(dt_sideband *sb, dt_process *p)
{
	dt_error err;
	dt_maps *maps = dt_maps_read(p->pid, &err);

	if (!maps && is_passing(err.code)) /* the process may soon be gone */
		maps = dt_maps_read(p->pid, &err);
	p->read_at = dt_now();
	if (!maps && err.code == ESRCH) {
		dt_images_exit(sb->images, p);
		return;
	}
	if (!maps && is_passing(err.code))
		p->read_at = 0; /* once more when it is needed */
	if (!maps || maps->n == 0) { /* not ours to read, or a zombie: what was lost stays lost */
		p->unread_at = p->read_at;
		dt_maps_free(maps);
		return;
	}
	p->losses = sb->lost;
	learn_place(sb, p);
	for (uint32_t i = 0; i < maps->n; i++) {
		const dt_mapping *m = &maps->v[i];
		dt_file like = {.path = m->path,
				.inode = m->inode,
				.dev_major = m->dev_major,
				.dev_minor = m->dev_minor,
				.vdso = m->kind == DT_MAP_VDSO,
				.anon = is_anon(m->path),
				.pid = p->pid,
				.root = p->root};
		dt_umap u = {.start = m->start, .end = m->end, .offset = m->offset};

		if (!m->exec)
			continue;
		make_room(sb);
		u.file = dt_files_get(sb->files, &like);
		add_map(sb, p, &u);
	}
	dt_maps_free(maps);
}

/* Has /proc something to tell? One that could not be read is tried again: it may be about to exec. */
static bool is_there(const dt_process *p)
{
	return !p->exited && (!p->unread_at || dt_now() - p->unread_at > READ_AGAIN);
}

/* The process, read from /proc if it is new. */
static dt_process *need_process(dt_sideband *sb, long pid)
{
	dt_process *p = dt_images_make(sb->images, pid, 0);

	if (!p->read_at && !p->exited)
		read_process(sb, p);
	return p;
}

/* Continue reading the processes that existed before, for a limited time. */
static void scan(dt_sideband *sb, uint64_t slice)
{
	uint64_t end = dt_now() + slice;
	struct dirent *d = NULL;

	while (sb->scan && dt_now() < end && (d = readdir(sb->scan)))
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
			need_process(sb, atol(d->d_name));
	if (sb->scan && !d && dt_now() < end) {
		closedir(sb->scan);
		sb->scan = NULL;
	}
}

/* ---- events ---- */

struct mmap2 { /* PERF_RECORD_MMAP2 */
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, offset;
	union {
		struct {
			uint32_t dev_major, dev_minor;
			uint64_t inode, generation;
		};
		struct {
			uint8_t build_id_len, reserved[3];
			uint8_t build_id[20];
		};
	};
	uint32_t prot, flags;
	char path[]; /* NUL-terminated, padded; then the time */
};

struct task { /* PERF_RECORD_FORK, PERF_RECORD_EXIT */
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct comm {
	struct perf_event_header header;
	uint32_t pid, tid;
};

static void on_map(dt_sideband *sb, uint64_t time, const struct mmap2 *e)
{
	dt_file like = {.path = e->path, .pid = (int32_t)e->pid};
	dt_umap u = {.start = e->addr, .end = e->addr + e->len, .offset = e->offset, .since = time};
	dt_process *p;

	if (e->header.size <= sizeof(*e) + sizeof(time) || (int32_t)e->pid <= 0 ||
	    !memchr(e->path, 0, e->header.size - sizeof(*e)))
		return;
	like.anon = is_anon(e->path);
	like.vdso = strcmp(e->path, "[vdso]") == 0;
	p = need_process(sb, like.pid);
	like.root = p->root;
	if (e->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		like.build_id_len = e->build_id_len <= 20 ? e->build_id_len : 20;
		memcpy(like.build_id, e->build_id, like.build_id_len);
	} else {
		like.inode = e->inode;
		like.dev_major = e->dev_major;
		like.dev_minor = e->dev_minor;
	}
	make_room(sb);
	u.file = dt_files_get(sb->files, &like);
	add_map(sb, p, &u);
}

static void on_fork(dt_sideband *sb, uint64_t time, const struct task *e)
{
	if (e->pid == e->ppid || (int32_t)e->pid <= 0 || (int32_t)e->ppid <= 0)
		return; /* a thread, or outside our pid namespace */
	dt_images_fork(sb->images, need_process(sb, (int32_t)e->ppid), (int32_t)e->pid, time);
	tell(sb, DT_SB_FORK, (int32_t)e->pid, (int32_t)e->ppid, NULL);
}

static void on_end(dt_sideband *sb, const struct task *e)
{
	dt_process *p = dt_images_get(sb->images, (int32_t)e->pid);

	if (e->pid != e->tid || !p)
		return;
	dt_images_exit(sb->images, p);
	tell(sb, DT_SB_EXIT, (int32_t)e->pid, 0, NULL);
}

static void on_exec(dt_sideband *sb, uint64_t time, const struct comm *e)
{
	dt_process *p;

	if (!(e->header.misc & PERF_RECORD_MISC_COMM_EXEC) || (int32_t)e->pid <= 0)
		return;
	p = dt_images_make(sb->images, (int32_t)e->pid, time);
	dt_images_exec(sb->images, p, time);
	learn_place(sb, p);
	p->read_at = time; /* from here on all events are received */
	p->losses = sb->lost;
	tell(sb, DT_SB_EXEC, p->pid, 0, NULL);
}

static void on_event(void *arg, uint64_t time, const struct perf_event_header *h)
{
	dt_sideband *sb = arg;

	switch (h->type) {
	case PERF_RECORD_MMAP2: on_map(sb, time, (const struct mmap2 *)h); break;
	case PERF_RECORD_FORK: on_fork(sb, time, (const struct task *)h); break;
	case PERF_RECORD_EXIT: on_end(sb, (const struct task *)h); break;
	case PERF_RECORD_COMM: on_exec(sb, time, (const struct comm *)h); break;
	}
}

/* Events were lost: those that will be needed are read again at once, since they may have ended when they are. */
static void read_kept(dt_sideband *sb)
{
	uint64_t begin = dt_now();
	uint32_t n;
	long *pids = dt_images_kept(sb->images, &n);

	for (uint32_t i = 0; i < n && dt_now() - begin < SLICE; i++) {
		dt_process *p = dt_images_get(sb->images, pids[i]); /* reading one may forget others */

		if (p && p->losses != sb->lost && is_there(p) && begin - p->read_at > READ_AGAIN)
			read_process(sb, p);
	}
	dt_vec_release(pids);
}

void dt_sideband_drain(dt_sideband *sb)
{
	uint64_t lost = sb->lost;

	if (sb->rings) {
		dt_perf_rings_read(sb->rings, on_event, sb);
		sb->lost = dt_perf_rings_lost(sb->rings);
	}
	if (sb->lost != lost)
		read_kept(sb);
	scan(sb, SLICE);
}

/* ---- open ---- */

/* Of one CPU. */
static size_t ring_size(void)
{
	size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_CONF), size = RING_MOST;

	while (size > RING_LEAST && size * cpus > RINGS)
		size /= 2;
	return size;
}

dt_sideband *dt_sideband_open(dt_jail *jail)
{
	dt_error err = {0};
	dt_sideband *sb = dt_xcalloc(1, sizeof(*sb));
	struct perf_event_attr attr = {
	    .size = sizeof(attr),
	    .type = PERF_TYPE_SOFTWARE,
	    .config = PERF_COUNT_SW_DUMMY,
	    .sample_type = PERF_SAMPLE_TIME,
	    .sample_id_all = 1,
	    .mmap = 1,
	    .mmap2 = 1,
	    .build_id = 1,
	    .comm = 1,
	    .comm_exec = 1,
	    .task = 1,
	    .exclude_kernel = 1,
	    .use_clockid = 1,
	    .clockid = CLOCK_MONOTONIC,
	};

	sb->files = dt_files_new(jail);
	sb->images = dt_images_new();
	sb->rings = dt_perf_rings_open(&attr, ring_size(), &err);
	if (sb->rings) {
		sb->scan = opendir("/proc");
		scan(sb, FIRST_SLICE);
	} else {
		sb->refused = dt_xstrdup(err.text);
	}
	return sb;
}

void dt_sideband_free(dt_sideband *sb)
{
	if (!sb)
		return;
	dt_perf_rings_free(sb->rings);
	dt_images_free(sb->images);
	dt_files_free(sb->files);
	if (sb->scan)
		closedir(sb->scan);
	free(sb->refused);
	free(sb);
}

bool dt_sideband_live(const dt_sideband *sb)
{
	return sb->rings != NULL;
}

const char *dt_sideband_refused(const dt_sideband *sb)
{
	return sb->refused;
}

int dt_sideband_fd(const dt_sideband *sb)
{
	return sb->rings ? dt_perf_rings_fd(sb->rings) : -1;
}

uint64_t dt_sideband_lost(const dt_sideband *sb)
{
	return sb->lost;
}

void dt_sideband_listen(dt_sideband *sb, struct dt_sideband_listener *l)
{
	l->next = sb->listeners;
	sb->listeners = l;
}

void dt_sideband_unlisten(dt_sideband *sb, struct dt_sideband_listener *l)
{
	struct dt_sideband_listener **at = &sb->listeners;

	while (*at && *at != l)
		at = &(*at)->next;
	if (*at)
		*at = l->next;
}

/* ---- lookups ---- */

/* An unknown address: can /proc tell more than the events? */
static bool may_know_more(const dt_sideband *sb, const dt_process *p)
{
	if (!is_there(p))
		return false;
	if (sb->rings && p->read_at)
		return p->losses != sb->lost;
	return dt_now() - p->read_again > READ_AGAIN;
}

/* After losses a living process is read again first: an address in an old mapping would have a
 * name, but perhaps the wrong one. */
bool dt_sideband_find(dt_sideband *sb, long pid, uint64_t time, uint64_t addr, dt_umap *m)
{
	dt_process *p;

	if (pid <= 0)
		return false;
	p = need_process(sb, pid);
	if (p->losses < sb->lost && is_there(p))
		read_process(sb, p);
	if (!dt_images_find(p, time, addr, m)) {
		if (!may_know_more(sb, p))
			return false;
		p->read_again = dt_now();
		read_process(sb, p);
		if (!dt_images_find(p, time, addr, m))
			return false;
	}
	dt_files_use(sb->files, m->file);
	return true;
}

enum dt_sideband_lack dt_sideband_lacks(const dt_sideband *sb, long pid)
{
	const dt_process *p = dt_images_get(sb->images, pid);
	char state;

	if (p && p->losses == FORGOTTEN)
		return DT_SB_LACKS_FORGOTTEN;
	if (sb->refused)
		return !dt_proc_stat(pid, &state, 3, NULL) || state == 'Z' ? DT_SB_LACKS_REFUSED : DT_SB_LACKS_NOTHING;
	return sb->lost && (!p || p->losses != sb->lost) ? DT_SB_LACKS_LOST : DT_SB_LACKS_NOTHING;
}

bool dt_sideband_next(dt_sideband *sb, long pid, uint64_t time, uint32_t *it, dt_umap *m)
{
	return pid > 0 && dt_images_next(need_process(sb, pid), time, it, m);
}

void dt_sideband_keep(dt_sideband *sb, long pid)
{
	if (pid > 0)
		need_process(sb, pid)->kept = true;
}

bool dt_sideband_exited(const dt_sideband *sb, long pid)
{
	const dt_process *p = dt_images_get(sb->images, pid);

	return p && p->exited;
}

bool dt_sideband_is_current(const dt_sideband *sb, long pid, uint64_t time)
{
	const dt_process *p = dt_images_get(sb->images, pid);

	return !p || (!p->exited && dt_images_is_newest(p, time));
}

int dt_sideband_open_file(dt_sideband *sb, const dt_file *f)
{
	return dt_files_open(sb->files, f);
}

void dt_sideband_root(dt_sideband *sb, const dt_file *f, char *to, size_t n)
{
	dt_files_root_path(sb->files, f->root, to, n);
}

bool dt_sideband_owns(dt_sideband *sb, long pid, uid_t uid)
{
	dt_process *p = need_process(sb, pid);

	if (!p->exited) /* its user may have changed since it was read */
		p->has_owner = dt_proc_owner(pid, &p->uid, &p->root_uid) || p->has_owner;
	return uid == 0 || (p->has_owner && (uid == p->uid || uid == p->root_uid));
}

char *dt_sideband_path(dt_sideband *sb, long pid, const char *path)
{
	char root[64];

	dt_files_root_path(sb->files, need_process(sb, pid)->root, root, sizeof(root));
	return dt_xasprintf("%s%s", root, path);
}

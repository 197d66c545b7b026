/*
 * attach_user: attaches programs to places in user code.
 *
 * A program for such probes finds out which one fired by its attach cookie, a row of its own table:
 *
 *	probe + 1 | process, 0: any | number (dt_attach) | prologue | pops (dt_attach) | a bit for each clause
 *
 * The table is a map with room for more rows than there are probes at first, so that a running
 * program can be given new ones: a row is written, then its place is attached.
 *
 * Linux 6.6 attaches any number of places in one file with one link (uprobe.multi), which takes a
 * few microseconds per place and is released at once. Before that every place is a separate perf
 * event, and releasing one waits for RCU. Both put the breakpoint only into the requested process;
 * others that map the same file are not affected. Both also fire for a child that still shares the
 * memory (vfork), so the program compares the process again. Links of Linux 6.6 to 6.9 cover only
 * the first thread of a process: there perf events are used.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/arch.h"
#include "bpf/run/attaching.h"
#include "bpf/run/kmap.h"
#include "bpf/run/load.h"
#include "kernel/links.h"
#include "kernel/ktrace.h"
#include "proc/changed.h"

#define ENOTSUPP_ 524 /* the kernel's value; its header has no name for it */

struct dt_user_links {
	DT_VEC(struct link {
		int fd;
		long pid; /* 0: in all processes */
	})
	v;
	uint32_t refused; /* places that the kernel refuses */
	bool perf_is_on;
};

static struct dt_user_links *users(dt_bpf *e)
{
	if (!e->users)
		e->users = dt_xcalloc(1, sizeof(*e->users));
	return e->users;
}

/* ---- the table of a program ---- */

void dt_user_row_write(dt_bpf *e, uint32_t prog, uint32_t probe)
{
	const struct dt_plan_prog *p = &e->plan.progs.v[prog];
	const struct dt_prog_place *at = &e->at.progs.v[prog];
	const struct dt_plan_probe *x = &e->plan.probes.v[probe];
	struct dt_user_row *row =
	    (void *)(e->loaded.v[prog].rows + (uint64_t)x->event * at->row_size);

	row->pid = (uint32_t)x->at.pid;
	dt_family_root(e, row->pid);
	row->number = (int32_t)x->at.number;
	if (x->at.instruction && dt_arch_host()->unwind.ra_at == 0)
		row->number |= DT_ROW_LEAVES;
	row->pops = x->at.pops;
	row->prologue = x->prologue - (x->prologue > 0);
	for (uint32_t k = 0; k < p->nclauses; k++)
		if (e->plan.clauses.v[p->clauses[k]].ecbs[probe] && at->masks)
			row->mask[k / 32] |= 1u << k % 32;
	__atomic_store_n(&row->probe, probe + 1, __ATOMIC_RELEASE);
}

static uint64_t table_size(const dt_bpf *e, uint32_t prog)
{
	const struct dt_prog_place *at = &e->at.progs.v[prog];

	return (uint64_t)at->row_size * at->nevents;
}

int dt_user_table_make(dt_bpf *e, uint32_t prog, dt_error *err)
{
	const struct dt_plan_prog *p = &e->plan.progs.v[prog];
	const struct dt_prog_place *at = &e->at.progs.v[prog];
	int fd = dt_kmap_make(e,
			      &(struct dt_kmap){.type = BPF_MAP_TYPE_ARRAY,
						.name = "dt_events",
						.key = 4,
						.value = at->row_size,
						.entries = at->nevents,
						.flags = BPF_F_MMAPABLE},
			      err);

	e->prog_maps.v[prog].events = fd;
	if (fd >= 0)
		e->loaded.v[prog].rows = dt_kmap_memory(fd, table_size(e, prog), 0, true, err);
	if (!e->loaded.v[prog].rows)
		return -1;
	for (uint32_t i = 0; i < e->plan.probes.n; i++)
		if (dt_plan_serves(&e->plan, p, i) && dt_plan_is_on(&e->plan, p, i))
			dt_user_row_write(e, prog, i);
	return 0;
}

void dt_user_table_free(dt_bpf *e, uint32_t prog)
{
	if (e->loaded.v[prog].rows)
		dt_kmap_unmap(e->loaded.v[prog].rows, table_size(e, prog));
	e->loaded.v[prog].rows = NULL;
}

/* ---- messages ---- */

static int cannot(const struct dt_plan_probe *x, int error, const char *why, dt_error *err)
{
	const dt_probe *p = x->probe;

	return dt_err(err, error, "cannot enable %s:%s:%s:%s: %s", p->prov, p->mod, p->func, p->name, why);
}

/* A place without a probe. */
static void skip(dt_bpf *e, const struct dt_plan_probe *x, int error, const char *why, dt_error *err)
{
	if (users(e)->refused++ == 0)
		cannot(x, error, why, err);
}

/* A place that the kernel refuses is skipped and counted; any other failure is an error. */
static int refuse(dt_bpf *e, const struct dt_plan_probe *x, int error, dt_error *err)
{
	if (error == EPERM || error == EACCES) {
		errno = error;
		return dt_load_error(err, "attach to user code through");
	}
	if (error == EINVAL && x->at.ref_ctr)
		skip(e, x, error, "the kernel does not accept its semaphore", err);
	else if (error == ENOTSUPP_ || error == ENOEXEC)
		skip(e, x, error, "the kernel cannot probe this instruction", err);
	else
		return cannot(x, error, dt_strerror(error), err);
	return 0;
}

/* Some were skipped: that is an error only if all were. */
static int judge(const dt_bpf *e, uint32_t wanted, uint32_t refused, dt_error *err)
{
	char first[sizeof(err->text)];

	if (refused == 0)
		return 0;
	if (refused >= wanted)
		return -1;
	memcpy(first, err->text, sizeof(first));
	if (e->users->refused > 1)
		dt_err(err, 0, "%u probes could not be enabled; %.900s", e->users->refused, first);
	return 0;
}

/* ---- uprobe.multi ---- */

static void keep(dt_bpf *e, int fd, int pid)
{
	*dt_vec_add(&users(e)->v, NULL) = (struct link){fd, pid};
}

struct batch {
	int fd;			/* of the program */
	uint32_t *probes; /* all in one file, for one process */
	uint32_t n;
	uint64_t *offsets, *refs, *cookies;
	bool has_refs;
};

/* The process to attach in; with option follow its children are included.
 */
static int only_pid(const dt_bpf *e, const struct dt_plan_probe *x)
{
	return e->plan.follows ? 0 : x->at.pid;
}

static uint64_t place_of(dt_bpf *e, const struct dt_plan_probe *x)
{
	return x->at.offset + (x->at.call && dt_sites_by_call(e) ? x->at.call : 0);
}

static bool by_trampoline(const struct dt_plan_probe *x)
{
	return x->kind == PK_URETPROBE && !x->at.instruction;
}

/* If the kernel refuses one it refuses all, and does not say which: find it by bisection. Accepted
 * ones stay attached until everything is released. */
static int link_range(dt_bpf *e, const struct batch *b, uint32_t lo, uint32_t hi, dt_error *err)
{
	const struct dt_plan_probe *x = &e->plan.probes.v[b->probes[lo]];
	int fd =
	    dt_link_uprobes(b->fd, x->at.path, b->offsets + lo, b->has_refs ? b->refs + lo : NULL,
			    b->cookies + lo, hi - lo, by_trampoline(x), only_pid(e, x));

	if (fd >= 0) {
		keep(e, fd, only_pid(e, x));
		dt_progress_add(e->progress, hi - lo);
		return 0;
	}
	if (errno == ESRCH)
		return 0; /* the process has ended: nothing will fire */
	if (hi - lo == 1 || errno == EPERM || errno == EACCES || errno == ENOMEM)
		return refuse(e, x, errno, err);
	if (link_range(e, b, lo, lo + (hi - lo) / 2, err) < 0)
		return -1;
	return link_range(e, b, lo + (hi - lo) / 2, hi, err);
}

/* Not too many at a time, so that progress can be seen. */
#define TOGETHER 4096

static int link_batch(dt_bpf *e, struct batch *b, dt_error *err)
{
	int rc = 0;

	b->offsets = dt_xcalloc(b->n, sizeof(uint64_t));
	b->refs = dt_xcalloc(b->n, sizeof(uint64_t));
	b->cookies = dt_xcalloc(b->n, sizeof(uint64_t));
	for (uint32_t i = 0; i < b->n; i++) {
		const struct dt_plan_probe *x = &e->plan.probes.v[b->probes[i]];

		b->offsets[i] = place_of(e, x);
		b->refs[i] = x->at.ref_ctr;
		b->cookies[i] = x->event;
		b->has_refs = b->has_refs || x->at.ref_ctr;
	}
	for (uint32_t lo = 0; lo < b->n && rc == 0; lo += TOGETHER)
		rc = link_range(e, b, lo, b->n - lo < TOGETHER ? b->n : lo + TOGETHER, err);
	free(b->offsets);
	free(b->refs);
	free(b->cookies);
	return rc;
}

/* ---- perf events ---- */

/*
 * The first perf event of a process waits for RCU after its breakpoint is in place and before a
 * program can be attached: whatever fires meanwhile is lost. An event that never happens waits
 * instead.
 */
static void turn_perf_on(dt_bpf *e)
{
	struct perf_event_attr a = {.type = PERF_TYPE_SOFTWARE,
				    .size = sizeof(a),
				    .config = PERF_COUNT_SW_DUMMY,
				    .exclude_kernel = 1};
	int fd;

	if (users(e)->perf_is_on)
		return;
	e->users->perf_is_on = true;
	fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		keep(e, fd, 0);
}

/* -1 with errno */
static int link_perf(int prog, int type, const char *path, uint64_t offset, uint64_t ref,
		     bool trampoline, int pid, uint64_t cookie)
{
	struct perf_event_attr a = {.type = (uint32_t)type,
				    .size = sizeof(a),
				    .config = (trampoline ? 1 : 0) | ref << 32,
				    .config1 = (uint64_t)(uintptr_t)path,
				    .config2 = offset};

	return dt_link_perf(prog, &a, pid ? pid : -1, pid ? -1 : 0, cookie, NULL);
}

static int perf_one(dt_bpf *e, int prog, const struct dt_plan_probe *x, int type, dt_error *err)
{
	int fd = link_perf(prog, type, x->at.path, x->at.offset, x->at.ref_ctr, by_trampoline(x),
			   only_pid(e, x), x->event);

	if (fd >= 0)
		keep(e, fd, only_pid(e, x));
	return fd >= 0 || errno == ESRCH ? 0 : refuse(e, x, errno, err);
}

static int perf_batch(dt_bpf *e, const struct batch *b, dt_error *err)
{
	int type = dt_perf_type("uprobe");

	if (type < 0)
		return dt_err(err, ENOENT, "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)");
	turn_perf_on(e);
	for (uint32_t i = 0; i < b->n; i++) {
		if (perf_one(e, b->fd, &e->plan.probes.v[b->probes[i]], type, err) < 0)
			return -1;
		dt_progress_add(e->progress, 1);
	}
	return 0;
}

/* ---- code that is not that of the file ---- */

#define CHANGED "its code in memory is not that of its file"

/* Not for probes of all processes: any process could keep others from being traced. */
static void leave_changed(dt_bpf *e, struct batch *b, dt_error *err)
{
	const struct dt_plan_probe *x = &e->plan.probes.v[b->probes[0]];
	dt_changed *c = x->at.pid ? dt_changed_new(x->at.pid, x->at.path) : NULL;
	uint32_t kept = 0;

	for (uint32_t i = 0; c && i < b->n; i++) {
		x = &e->plan.probes.v[b->probes[i]];
		if (dt_changed_has(c, place_of(e, x)))
			skip(e, x, EBUSY, CHANGED, err);
		else
			b->probes[kept++] = b->probes[i];
	}
	b->n = c ? kept : b->n;
	dt_changed_free(c);
}

static bool is_changed(int pid, const char *path, uint64_t offset)
{
	dt_changed *c = pid ? dt_changed_new(pid, path) : NULL;
	bool is = c && dt_changed_has(c, offset);

	dt_changed_free(c);
	return is;
}

/* ---- all probes of a program ---- */

static int compare_places(const void *a, const void *b, void *arg)
{
	const dt_bpf *e = arg;
	const struct dt_plan_probe *x = &e->plan.probes.v[*(const uint32_t *)a],
				   *y = &e->plan.probes.v[*(const uint32_t *)b];
	int order = strcmp(x->at.path, y->at.path);

	if (order == 0)
		order = x->at.pid - y->at.pid;
	if (order == 0)
		order = by_trampoline(x) - by_trampoline(y);
	if (order == 0)
		order = x->at.offset < y->at.offset ? -1 : x->at.offset > y->at.offset;
	return order;
}

static bool together(const struct dt_plan_probe *x, const struct dt_plan_probe *y)
{
	return strcmp(x->at.path, y->at.path) == 0 && x->at.pid == y->at.pid &&
	       by_trampoline(x) == by_trampoline(y);
}

int dt_attach_user(dt_bpf *e, uint32_t prog, uint32_t first, dt_error *err)
{
	const struct dt_plan_prog *p = &e->plan.progs.v[prog];
	uint32_t *probes = dt_xcalloc(e->plan.probes.n + 1, sizeof(*probes)), n = 0,
		 before = users(e)->refused;
	int rc = 0;

	for (uint32_t i = first; i < e->plan.probes.n; i++)
		if (dt_plan_serves(&e->plan, p, i) && dt_plan_is_on(&e->plan, p, i))
			probes[n++] = i;
	qsort_r(probes, n, sizeof(*probes), compare_places, e);
	for (uint32_t i = 0, end; i < n && rc == 0; i = end) {
		struct batch b = {.fd = e->loaded.v[prog].fd, .probes = probes + i};

		for (end = i + 1; end < n && together(&e->plan.probes.v[probes[i]],
						      &e->plan.probes.v[probes[end]]);)
			end++;
		b.n = end - i;
		leave_changed(e, &b, err);
		rc = dt_plan_can(&e->plan, UPROBE_MULTI) ? link_batch(e, &b, err)
							 : perf_batch(e, &b, err);
	}
	free(probes);
	return rc < 0 ? -1 : judge(e, n, e->users->refused - before, err);
}

int dt_attach_place(dt_bpf *e, int prog, const char *path, uint64_t offset, int pid,
		    uint64_t cookie, dt_error *err)
{
	int fd;

	if (is_changed(pid, path, offset))
		return dt_err(err, EBUSY, CHANGED);
	fd = dt_plan_can(&e->plan, UPROBE_MULTI)
		 ? dt_link_uprobes(prog, path, &offset, NULL, &cookie, 1, false, pid)
		 : link_perf(prog, dt_perf_type("uprobe"), path, offset, 0, false, pid, cookie);
	if (fd < 0)
		return dt_err(err, errno, "%s", dt_strerror(errno));
	keep(e, fd, pid);
	return 0;
}

int *dt_attach_user_take(dt_bpf *e, long pid, uint32_t *n)
{
	struct dt_user_links *l = users(e);
	int *fds = dt_xcalloc(l->v.n + 1, sizeof(*fds));
	uint32_t kept = 0;

	*n = 0;
	for (uint32_t i = 0; i < l->v.n; i++)
		if (l->v.v[i].pid == pid)
			fds[(*n)++] = l->v.v[i].fd;
		else
			l->v.v[kept++] = l->v.v[i];
	l->v.n = kept;
	return fds;
}

void dt_attach_user_end(dt_bpf *e)
{
	for (uint32_t i = 0; e->users && i < e->users->v.n; i++)
		dt_attach_keep(e, e->users->v.v[i].fd);
	if (e->users)
		dt_vec_free(&e->users->v);
	free(e->users);
	e->users = NULL;
}

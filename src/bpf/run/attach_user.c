/*
 * attach_user: programs to places in user code.
 *
 * A program for such probes finds out which one fired by its attach cookie, a row of a table of
 * its own:
 *
 *	probe + 1 | process, 0: any | number (dt_attach) | prologue | a bit for each clause
 *
 * The table is a map with room for more rows than there are probes at first, so that a running
 * program can be given new ones: a row is written, then its place is attached.
 *
 * Linux 6.6 takes any number of places in one file with one link (uprobe.multi), which is made in
 * a few microseconds per place and let go at once. Before that every place is a perf event of its
 * own, and letting go of one waits for RCU. Both put the breakpoint only into the process that is
 * meant; others that map the same file do not notice. What both let through is a child that still
 * shares the memory (vfork), so the program compares the process once more. Links of Linux 6.6 to
 * 6.9 know only the first thread of a process: there perf events are used.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/image.h"
#include "kernel/ktrace.h"

#define ENOTSUPP_ 524 /* the kernel's own; it has no name here */

/* ---- what the kernel can do ---- */

static int link_multi(int prog, const char *path, const uint64_t *offsets, const uint64_t *refs,
		      const uint64_t *cookies, uint32_t n, uint32_t flags, int pid)
{
	struct dt_uprobe_multi_attr a = {.prog_fd = (uint32_t)prog,
					 .attach_type = DT_BPF_TRACE_UPROBE_MULTI,
					 .path = (uint64_t)(uintptr_t)path,
					 .offsets = (uint64_t)(uintptr_t)offsets,
					 .ref_ctr_offsets = (uint64_t)(uintptr_t)refs,
					 .cookies = (uint64_t)(uintptr_t)cookies,
					 .cnt = n,
					 .multi_flags = flags,
					 .pid = (uint32_t)pid};

	return (int)syscall(SYS_bpf, BPF_LINK_CREATE, &a, sizeof(a));
}

struct thread {
	int tid, ready[2], done[2];
};

static void *be_a_thread(void *arg)
{
	struct thread *t = arg;
	char c;

	t->tid = (int)syscall(SYS_gettid);
	if (write(t->ready[1], "", 1) == 1 && read(t->done[0], &c, 1) < 0)
		return NULL;
	return NULL;
}

/* Does a link take a process and all its threads? One that does refuses the id of a thread (ESRCH);
 * the others get as far as reading the offsets, which are not there. */
static bool takes_processes(int prog)
{
	struct thread t = {.ready = {-1, -1}, .done = {-1, -1}};
	pthread_t id;
	bool yes = false;
	char c;

	if (pipe(t.ready) == 0 && pipe(t.done) == 0 &&
	    pthread_create(&id, NULL, be_a_thread, &t) == 0) {
		if (read(t.ready[0], &c, 1) == 1)
			yes = link_multi(prog, "/proc/self/exe", (void *)-4096, NULL, NULL, 1, 0,
					 t.tid) < 0 &&
			      errno == ESRCH;
		close(t.done[1]);
		t.done[1] = -1;
		pthread_join(id, NULL);
	}
	for (int i = 0; i < 2; i++) {
		if (t.ready[i] >= 0)
			close(t.ready[i]);
		if (t.done[i] >= 0)
			close(t.done[i]);
	}
	return yes;
}

bool dt_attach_has_uprobe_multi(void)
{
	const struct bpf_insn nothing[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K},
					   {.code = BPF_JMP | BPF_EXIT}};
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = DT_BPF_TRACE_UPROBE_MULTI);
	int prog = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "dtrace", "Dual BSD/GPL", nothing,
				 DT_NELEM(nothing), &o);
	uint64_t zero = 0;
	bool yes;

	if (prog < 0)
		return false;
	/* a directory is not a file to put probes in: a kernel that knows such links says so */
	yes = link_multi(prog, "/", &zero, NULL, NULL, 1, 0, 0) < 0 && errno == EBADF &&
	      takes_processes(prog);
	close(prog);
	return yes;
}

/* ---- the table of a program ---- */

bool dt_plan_is_user(enum dt_probe_kind kind)
{
	return kind == PK_UPROBE || kind == PK_URETPROBE;
}

void dt_user_row_write(dt_engine *e, const struct dt_plan_prog *p, uint32_t probe)
{
	const struct dt_plan_probe *x = &e->probes.v[probe];
	struct dt_user_row *row =
	    (struct dt_user_row *)(void *)(p->rows + (uint64_t)x->event * p->row_size);

	row->pid = (uint32_t)x->at.pid;
	dt_family_root(e, row->pid);
	row->number = (int32_t)x->at.number;
	row->prologue = x->prologue - (x->prologue > 0);
	for (uint32_t k = 0; k < p->nclauses; k++)
		if (e->clauses.v[p->clauses[k]].ecbs[probe] && p->masks)
			row->mask[k / 32] |= 1u << k % 32;
	__atomic_store_n(&row->probe, probe + 1, __ATOMIC_RELEASE);
}

int dt_user_table_make(dt_engine *e, struct dt_plan_prog *p, dt_error *err)
{
	p->fd_table = dt_kmap_make(e, BPF_MAP_TYPE_ARRAY, "dt_events", 4, p->row_size, p->nevents,
				   BPF_F_MMAPABLE, err);
	if (p->fd_table >= 0)
		p->rows = dt_kmap_memory(p->fd_table, (uint64_t)p->row_size * p->nevents, err);
	if (!p->rows)
		return -1;
	for (uint32_t i = 0; i < e->probes.n; i++)
		if (dt_plan_serves(e, p, i) && dt_plan_is_on(e, p, i))
			dt_user_row_write(e, p, i);
	return 0;
}

void dt_user_table_free(struct dt_plan_prog *p)
{
	if (p->rows)
		munmap(p->rows, dt_align_up((uint64_t)p->row_size * p->nevents, 4096));
	p->rows = NULL;
}

/* ---- messages ---- */

/* A place that the kernel refuses is left out and counted; anything else is an error. */
static int refuse(dt_engine *e, const struct dt_plan_probe *x, int error, dt_error *err)
{
	const dt_probe *p = x->probe;
	bool place = error == ENOTSUPP_ || error == ENOEXEC || (error == EINVAL && x->at.ref_ctr);

	if (error == EPERM || error == EACCES) {
		errno = error;
		return dt_load_error(err, "attach to user code through");
	}
	if (e->refused == 0 || !place)
		dt_err(err, error, "cannot enable %s:%s:%s:%s: %s", p->prov, p->mod, p->func,
		       p->name,
		       !place		 ? dt_strerror(error)
		       : error == EINVAL ? "the kernel does not accept its semaphore"
					 : "the kernel cannot probe this instruction");
	e->refused += place;
	return place ? 0 : -1;
}

/* Some were left out: that is an error only if it were all. */
static int judge(const dt_engine *e, uint32_t wanted, uint32_t refused, dt_error *err)
{
	char first[sizeof(err->text)];

	if (refused == 0)
		return 0;
	if (refused >= wanted)
		return -1;
	memcpy(first, err->text, sizeof(first));
	if (e->refused > 1)
		dt_err(err, 0, "%u probes could not be enabled; %.900s", e->refused, first);
	return 0;
}

/* ---- uprobe.multi ---- */

static void keep(dt_engine *e, int fd, int pid)
{
	*dt_vec_add(&e->user_links, NULL) = (struct dt_user_link){fd, pid};
}

struct batch {
	const struct dt_plan_prog *p;
	const uint32_t *probes; /* all in one file, for one process */
	uint32_t n;
	uint64_t *offsets, *refs, *cookies;
	bool has_refs;
};

/* The process that the kernel is to attach in; with option follow its children are meant as well.
 */
static int only_pid(const dt_engine *e, const struct dt_plan_probe *x)
{
	return e->follows ? 0 : x->at.pid;
}

static uint64_t place_of(dt_engine *e, const struct dt_plan_probe *x)
{
	return x->at.offset + (x->at.call && dt_sites_by_call(e) ? x->at.call : 0);
}

static bool by_trampoline(const struct dt_plan_probe *x)
{
	return x->kind == PK_URETPROBE && !x->at.instruction;
}

/* The kernel refuses all of them for one, and does not say which: look for it by halves. Those that
 * are fine stay attached until everything is let go. */
static int link_range(dt_engine *e, const struct batch *b, uint32_t lo, uint32_t hi, dt_error *err)
{
	const struct dt_plan_probe *x = &e->probes.v[b->probes[lo]];
	int fd = link_multi(b->p->fd, x->at.path, b->offsets + lo,
			    b->has_refs ? b->refs + lo : NULL, b->cookies + lo, hi - lo,
			    by_trampoline(x) ? DT_BPF_F_UPROBE_MULTI_RETURN : 0, only_pid(e, x));

	if (fd >= 0) {
		keep(e, fd, only_pid(e, x));
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

static int link_batch(dt_engine *e, struct batch *b, dt_error *err)
{
	int rc;

	b->offsets = dt_xcalloc(b->n, sizeof(uint64_t));
	b->refs = dt_xcalloc(b->n, sizeof(uint64_t));
	b->cookies = dt_xcalloc(b->n, sizeof(uint64_t));
	for (uint32_t i = 0; i < b->n; i++) {
		const struct dt_plan_probe *x = &e->probes.v[b->probes[i]];

		b->offsets[i] = place_of(e, x);
		b->refs[i] = x->at.ref_ctr;
		b->cookies[i] = x->event;
		b->has_refs = b->has_refs || x->at.ref_ctr;
	}
	rc = link_range(e, b, 0, b->n, err);
	free(b->offsets);
	free(b->refs);
	free(b->cookies);
	return rc;
}

/* ---- perf events ---- */

void dt_attach_allow_descriptors(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < r.rlim_max) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
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

	return dt_attach_event(prog, &a, pid ? pid : -1, pid ? -1 : 0, cookie);
}

static int perf_one(dt_engine *e, const struct dt_plan_prog *p, const struct dt_plan_probe *x,
		    int type, dt_error *err)
{
	int fd = link_perf(p->fd, type, x->at.path, x->at.offset, x->at.ref_ctr, by_trampoline(x),
			   only_pid(e, x), x->event);

	if (fd >= 0)
		keep(e, fd, only_pid(e, x));
	return fd >= 0 || errno == ESRCH ? 0 : refuse(e, x, errno, err);
}

static int perf_batch(dt_engine *e, const struct batch *b, dt_error *err)
{
	int type = dt_perf_type("uprobe");

	if (type < 0)
		return dt_err(err, ENOENT, "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)");
	for (uint32_t i = 0; i < b->n; i++)
		if (perf_one(e, b->p, &e->probes.v[b->probes[i]], type, err) < 0)
			return -1;
	return 0;
}

/* ---- all probes of a program ---- */

static int compare_places(const void *a, const void *b, void *arg)
{
	const dt_engine *e = arg;
	const struct dt_plan_probe *x = &e->probes.v[*(const uint32_t *)a],
				   *y = &e->probes.v[*(const uint32_t *)b];
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

int dt_attach_user(dt_engine *e, const struct dt_plan_prog *p, uint32_t first, dt_error *err)
{
	uint32_t *probes = dt_xcalloc(e->probes.n + 1, sizeof(*probes)), n = 0, before = e->refused;
	int rc = 0;

	for (uint32_t i = first; i < e->probes.n; i++)
		if (dt_plan_serves(e, p, i) && dt_plan_is_on(e, p, i))
			probes[n++] = i;
	qsort_r(probes, n, sizeof(*probes), compare_places, e);
	for (uint32_t i = 0, end; i < n && rc == 0; i = end) {
		struct batch b = {.p = p, .probes = probes + i};

		for (end = i + 1;
		     end < n && together(&e->probes.v[probes[i]], &e->probes.v[probes[end]]);)
			end++;
		b.n = end - i;
		rc = e->has_uprobe_multi ? link_batch(e, &b, err) : perf_batch(e, &b, err);
	}
	free(probes);
	return rc < 0 ? -1 : judge(e, n, e->refused - before, err);
}

int dt_attach_place(dt_engine *e, int prog, const char *path, uint64_t offset, int pid,
		    uint64_t cookie, dt_error *err)
{
	int fd = e->has_uprobe_multi
		     ? link_multi(prog, path, &offset, NULL, &cookie, 1, 0, pid)
		     : link_perf(prog, dt_perf_type("uprobe"), path, offset, 0, false, pid, cookie);

	if (fd < 0)
		return dt_err(err, errno, "%s", dt_strerror(errno));
	keep(e, fd, pid);
	return 0;
}

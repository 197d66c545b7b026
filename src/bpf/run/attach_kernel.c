/*
 * attach_kernel: attaches programs to functions and instructions of the kernel.
 *
 * There are three methods to be called when a function is entered or returns, and the kernel may
 * have any of them:
 *
 *	fentry, fexit	the function calls the program directly, through code the kernel makes for
 *			it. By far the cheapest (a third of a kprobe on entry, a fifth on return,
 *			measured on 6.12), and a return is never missed. But each function needs its
 *			own program, and must be known to BTF.
 *	kprobe.multi	one program and one link for any number of functions
 *	kprobe		a perf event for each: about 1 ms to make, because the kernel searches its
 *			whole list of functions, and the same to release, one after the other. The
 *			only way to trace instructions.
 *
 * So few probes use fentry, many use kprobe.multi, and the rest kprobes. This is decided when
 * probes are planned, because code reads its arguments differently: from the function's arguments
 * (fentry), or from registers. Whether the kernel really accepts a function for fentry is known
 * only when it is attached: if not, the program is generated again for the next method.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/run/attaching.h"
#include "bpf/run/kmap.h"
#include "bpf/run/load.h"
#include "kernel/links.h"
#include "kernel/ktrace.h"

struct dt_function_links {
	DT_VEC(struct link {
		int fd;
		enum dt_probe_kind kind;
		enum dt_plan_how how;
	})
	counting;	   /* links that count what they miss */
	uint64_t misses;   /* of those that are closed */
	uint32_t left_out; /* functions and instructions that the kernel refuses ... */
	const char *first; /* ... and the message about the first of them */
};

static struct dt_function_links *links(dt_bpf *e)
{
	if (!e->functions)
		e->functions = dt_xcalloc(1, sizeof(*e->functions));
	return e->functions;
}

/* ---- loading ---- */

int dt_attach_function_load(const dt_plan *plan, const struct dt_plan_prog *p,
			    enum bpf_prog_type *type, struct bpf_prog_load_opts *o)
{
	const dt_attach *at;
	int btf;

	if (dt_kind_is_function(p->kind) && p->group.how == HOW_MULTI)
		o->expected_attach_type = BPF_TRACE_KPROBE_MULTI;
	if (!dt_plan_is_direct(p))
		return -1;
	at = &plan->probes.v[p->only].at;
	btf = dt_ktrace_module_btf(at->module);
	*type = BPF_PROG_TYPE_TRACING;
	o->expected_attach_type = p->kind == PK_FUNC_RETURN ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY;
	o->attach_btf_id = dt_type_function_id(plan->types, at->module, at->event);
	o->attach_btf_obj_fd = (uint32_t)(btf > 0 ? btf : 0);
	return btf;
}

/* ---- attaching ---- */

static int refuse(const struct dt_plan_probe *x, int error, dt_error *err)
{
	const dt_probe *p = x->probe;
	const char *why = dt_strerror(error);

	if (error == EPERM || error == EACCES) {
		errno = error;
		return dt_load_error(err, "attach to functions of");
	}
	if (error == EINVAL || error == EOPNOTSUPP || error == ENOENT)
		why = x->kind == PK_INSTRUCTION ? "the kernel cannot probe this instruction"
						: "the kernel cannot probe this function";
	if (error == EILSEQ)
		why = "this offset is inside an instruction";
	return dt_err(err, error, "cannot enable %s:%s:%s:%s: %s", p->prov, p->mod, p->func,
		      p->name, why);
}

static bool is_refusal(int error)
{
	return error == EINVAL || error == EOPNOTSUPP || error == ENOENT || error == EILSEQ ||
	       error == ESRCH || error == EADDRNOTAVAIL || error == EBUSY;
}

/* A probe found only by a pattern is skipped and counted. */
static int leave_out(dt_bpf *e, const struct dt_plan_probe *x, const dt_error *why, dt_error *err)
{
	if (!x->at.optional) {
		*err = *why;
		return -1;
	}
	if (links(e)->left_out++ == 0)
		e->functions->first = dt_arena_strdup(e->plan.arena, why->text);
	return 0;
}

static int refused(dt_bpf *e, const struct dt_plan_probe *x, int error, dt_error *err)
{
	dt_error why;

	if (!is_refusal(error))
		return refuse(x, error, err);
	refuse(x, error, &why);
	return leave_out(e, x, &why, err);
}

/* Probes that were matched and cannot be traced are reported; if that is all of them, it is an
 * error. */
static int judge(const struct dt_function_links *f, uint32_t wanted, uint32_t left_out,
		 dt_error *err)
{
	if (f->left_out > 1)
		dt_err(err, EDT_NOPROBE, "%u probes could not be enabled; %s", f->left_out,
		       f->first);
	else if (f->left_out)
		dt_err(err, EDT_NOPROBE, "%s", f->first);
	return left_out && left_out == wanted ? -1 : 0;
}

/* The address of the function; 0 and *err: it is not known. */
static uint64_t address_of(dt_bpf *e, const struct dt_plan_probe *x, dt_error *err)
{
	dt_kfuncs *kf = e->plan.kfuncs;
	uint32_t it = (uint32_t)x->at.number, n;
	uint64_t addr = 0;

	dt_kfuncs_all(kf, e->plan.types, &n);
	if (it)
		addr = dt_kfunc_address(kf, it - 1);
	else if (dt_kfuncs_find(kf, x->at.module, x->at.event, &it))
		addr = dt_kfunc_address(kf, it);
	if (!addr)
		dt_err(err, EDT_NOPROBE,
		       "cannot enable %s:%s:%s:%s: the address of function %s is not known (%s)",
		       x->probe->prov, x->probe->mod, x->probe->func, x->probe->name, x->at.event,
		       "/proc/kallsyms");
	return addr;
}

/* ---- which function it is ----
 *
 * The cookie of a link tells, but the kernel searches all addresses of the link for it: with all
 * functions that takes longer than counting a call. So a program on many functions has a table by
 * address, a word for each 16 bytes: probe + 1, or event + 1 if its clauses are not on all. Where
 * it is 0 the cookie is used: two functions in 16 bytes, several probes on one function, functions
 * of modules, which are far away.
 */
#define MANY	   64
#define MAX_PLACES (16u << 20) /* 256 MB of code */

struct span {
	uint64_t from, to;
	uint32_t n;
};

/* The functions of vmlinux that a program is for. */
static struct span span_of(dt_bpf *e, const struct dt_plan_prog *p)
{
	struct span s = {.from = UINT64_MAX};
	uint64_t addr;
	dt_error err;

	for (uint32_t i = 0; i < e->plan.probes.n; i++)
		if (dt_plan_serves(&e->plan, p, i) && !e->plan.probes.v[i].at.module &&
		    (addr = address_of(e, &e->plan.probes.v[i], &err))) {
			s.from = addr < s.from ? addr : s.from;
			s.to = addr > s.to ? addr : s.to;
			s.n++;
		}
	return s;
}

static void fill_places(dt_bpf *e, uint32_t prog, uint32_t *words)
{
	const struct dt_plan_prog *p = &e->plan.progs.v[prog];
	const struct dt_prog_maps *m = &e->prog_maps.v[prog];
	uint8_t *taken = dt_xcalloc(m->nplaces, 1);
	dt_error err;

	for (uint32_t i = 0; i < e->plan.probes.n; i++) {
		const struct dt_plan_probe *x = &e->plan.probes.v[i];
		uint64_t addr = dt_plan_serves(&e->plan, p, i) && !x->at.module
				    ? address_of(e, x, &err)
				    : 0,
			 at = (addr - m->places_base) >> DT_PLACE_SHIFT;

		if (!addr)
			continue;
		words[at] = taken[at] ? 0 : e->at.progs.v[prog].masks ? x->event + 1 : i + 1;
		taken[at] = 1;
	}
	free(taken);
}

int dt_attach_function_places(dt_bpf *e, uint32_t prog, dt_error *err)
{
	const struct dt_plan_prog *p = &e->plan.progs.v[prog];
	struct dt_prog_maps *m = &e->prog_maps.v[prog];
	struct span s;
	uint64_t size;
	void *words;

	if (p->group.how != HOW_MULTI || e->at.progs.v[prog].nevents < MANY)
		return 0;
	s = span_of(e, p);
	if (s.n < MANY || (s.to - s.from) >> DT_PLACE_SHIFT >= MAX_PLACES)
		return 0;
	m->places_base = s.from;
	m->nplaces = (uint32_t)((s.to - s.from) >> DT_PLACE_SHIFT) + 1;
	size = dt_align_up((uint64_t)m->nplaces * 4, 4096);
	m->places = dt_kmap_make(e,
				 &(struct dt_kmap){.type = BPF_MAP_TYPE_ARRAY,
						   .name = "dt_places",
						   .key = 4,
						   .value = size,
						   .entries = 1,
						   .flags = BPF_F_MMAPABLE},
				 err);
	words = m->places < 0 ? NULL : dt_kmap_memory(m->places, size, 0, true, err);
	if (!words)
		return -1;
	fill_places(e, prog, words);
	dt_kmap_unmap(words, size);
	return 0;
}

static void keep_link(dt_bpf *e, const struct dt_plan_prog *p, int fd)
{
	dt_attach_keep(e, fd);
	*dt_vec_add(&links(e)->counting, NULL) = (struct link){fd, p->kind, p->group.how};
}

struct batch {
	const struct dt_plan_prog *p;
	int fd; /* of the program */
	uint32_t *probes;
	uint64_t *addrs;
	__u64 *cookies;
	uint32_t n;
};

/* If the kernel refuses one it refuses all, and does not say which: find it by bisection. */
static int link_multi(dt_bpf *e, const struct batch *b, uint32_t lo, uint32_t hi, dt_error *err)
{
	LIBBPF_OPTS(bpf_link_create_opts, o, .kprobe_multi.cnt = hi - lo,
		    .kprobe_multi.flags =
			b->p->kind == PK_FUNC_RETURN ? BPF_F_KPROBE_MULTI_RETURN : 0);
	const struct dt_plan_probe *x;
	int fd;

	if (lo == hi)
		return 0;
	x = &e->plan.probes.v[b->probes[lo]];
	o.kprobe_multi.addrs = b->addrs + lo;
	o.kprobe_multi.cookies = b->cookies + lo;
	fd = bpf_link_create(b->fd, 0, BPF_TRACE_KPROBE_MULTI, &o);
	if (fd >= 0) {
		keep_link(e, b->p, fd);
		dt_progress_add(e->progress, hi - lo);
		return 0;
	}
	if (!is_refusal(errno) || hi - lo == 1)
		return refused(e, x, errno, err);
	if (link_multi(e, b, lo, lo + (hi - lo) / 2, err) < 0)
		return -1;
	return link_multi(e, b, lo + (hi - lo) / 2, hi, err);
}

/* By address, and at one address in the order of the probes. */
static int compare_places(const void *a, const void *b, void *batch)
{
	const uint64_t *addrs = ((const struct batch *)batch)->addrs;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return addrs[x] != addrs[y] ? (addrs[x] < addrs[y] ? -1 : 1) : x < y ? -1 : x > y;
}

/* The kernel finds the cookie by the address, so a link may have each address only once: probes at
 * the same address (of fbt and stable providers) get separate links. */
static int link_all(dt_bpf *e, const struct batch *b, dt_error *err)
{
	uint32_t *order = dt_xcalloc(b->n + 1, sizeof(*order)),
		 *rank = dt_xcalloc(b->n + 1, sizeof(*rank)), most = 0;
	struct batch part = {.p = b->p,
			     .fd = b->fd,
			     .probes = dt_xcalloc(b->n + 1, sizeof(*part.probes)),
			     .addrs = dt_xcalloc(b->n + 1, sizeof(*part.addrs)),
			     .cookies = dt_xcalloc(b->n + 1, sizeof(*part.cookies))};
	int rc = 0;

	for (uint32_t i = 0; i < b->n; i++)
		order[i] = i;
	qsort_r(order, b->n, sizeof(*order), compare_places, (void *)b);
	for (uint32_t i = 1; i < b->n; i++)
		if (b->addrs[order[i]] == b->addrs[order[i - 1]]) {
			rank[order[i]] = rank[order[i - 1]] + 1;
			most = rank[order[i]] > most ? rank[order[i]] : most;
		}
	for (uint32_t r = 0; r <= most && rc == 0; r++) {
		part.n = 0;
		for (uint32_t i = 0; i < b->n; i++)
			if (rank[i] == r) {
				part.probes[part.n] = b->probes[i];
				part.addrs[part.n] = b->addrs[i];
				part.cookies[part.n++] = b->cookies[i];
			}
		rc = link_multi(e, &part, 0, part.n, err);
	}
	free(order);
	free(rank);
	free(part.probes);
	free(part.addrs);
	free(part.cookies);
	return rc;
}

/* -1 with errno */
static int link_kprobe(const struct batch *b, const struct dt_plan_probe *x, int type,
		       uint64_t addr)
{
	struct perf_event_attr a = {.type = (uint32_t)type,
				    .size = sizeof(a),
				    .config =
					b->p->kind == PK_FUNC_RETURN, /* the PMU's "retprobe" bit */
				    .config2 = addr};

	return dt_link_perf(b->fd, &a, -1, 0, x->event, NULL);
}

static int attach_kprobes(dt_bpf *e, const struct batch *b, dt_error *err)
{
	int type = dt_perf_type("kprobe");

	if (type < 0)
		return dt_err(err, ENOENT, "this kernel has no kprobes (CONFIG_KPROBE_EVENTS)");
	for (uint32_t i = 0; i < b->n; i++) {
		const struct dt_plan_probe *x = &e->plan.probes.v[b->probes[i]];
		int fd = link_kprobe(b, x, type, b->addrs[i]);

		if (fd >= 0)
			keep_link(e, b->p, fd);
		else if (refused(e, x, errno, err) < 0)
			return -1;
		dt_progress_add(e->progress, 1);
	}
	return 0;
}

static int attach_batch(dt_bpf *e, uint32_t prog, dt_error *err)
{
	const struct dt_plan_prog *p = &e->plan.progs.v[prog];
	struct batch b = {.p = p,
			  .fd = e->loaded.v[prog].fd,
			  .probes = dt_xcalloc(e->plan.probes.n, sizeof(*b.probes)),
			  .addrs = dt_xcalloc(e->plan.probes.n, sizeof(*b.addrs)),
			  .cookies = dt_xcalloc(e->plan.probes.n, sizeof(*b.cookies))};
	uint32_t before = links(e)->left_out, unknown = 0;
	int rc = 0;

	for (uint32_t i = 0; i < e->plan.probes.n && rc == 0; i++) {
		const struct dt_plan_probe *x = &e->plan.probes.v[i];
		dt_error why;
		uint64_t addr;

		if (!dt_plan_serves(&e->plan, p, i) || !dt_plan_is_on(&e->plan, p, i))
			continue;
		addr = address_of(e, x, &why);
		if (!addr) {
			rc = leave_out(e, x, &why, err);
			unknown++;
			continue;
		}
		b.probes[b.n] = i;
		b.addrs[b.n] = addr + x->at.offset;
		b.cookies[b.n++] = x->event;
	}
	if (rc == 0)
		rc = dt_kind_is_function(p->kind) && p->group.how == HOW_MULTI
			 ? link_all(e, &b, err)
			 : attach_kprobes(e, &b, err);
	if (rc == 0)
		rc = judge(e->functions, b.n + unknown, e->functions->left_out - before, err);
	free(b.probes);
	free(b.addrs);
	free(b.cookies);
	return rc;
}

/* Generate the program for the same probe again, to be attached by another method. */
static int fall_back(dt_bpf *e, uint32_t prog, dt_error *err)
{
	struct dt_plan_prog *p = &e->plan.progs.v[prog];

	close(e->loaded.v[prog].fd);
	e->loaded.v[prog].fd = -1;
	p->group.how = e->plan.features.functions.multi ? HOW_MULTI : HOW_KPROBE;
	e->plan.probes.v[p->only].group = p->group;
	return dt_load_program(e, prog, err) < 0 ? -1 : attach_batch(e, prog, err);
}

int dt_attach_functions(dt_bpf *e, uint32_t prog, dt_error *err)
{
	int fd;

	if (!dt_plan_is_direct(&e->plan.progs.v[prog]))
		return attach_batch(e, prog, err);
	fd = bpf_raw_tracepoint_open(NULL, e->loaded.v[prog].fd);
	if (fd < 0)
		return fall_back(e, prog, err);
	dt_attach_keep(e, fd);
	return 0;
}

/* ---- losses ---- */

/*
 * Firings that the kernel suppressed and counted in links: returns it had no space to track, and
 * probes inside other probes. Entries that kprobe.multi misses are not losses: they are only calls
 * by the tracer itself.
 */
static uint64_t link_misses(const struct link *l)
{
	struct dt_link_info info = {0};
	uint32_t len = sizeof(info);

	if ((l->how == HOW_MULTI && l->kind == PK_FUNC_ENTRY) ||
	    bpf_obj_get_info_by_fd(l->fd, &info, &len) < 0)
		return 0;
	return l->how == HOW_MULTI ? info.multi.missed : info.kprobe.missed;
}

uint64_t dt_attach_function_misses(const dt_bpf *e)
{
	const struct dt_function_links *f = e->functions;
	uint64_t n = f ? f->misses : 0;

	for (uint32_t i = 0; f && i < f->counting.n; i++)
		n += link_misses(&f->counting.v[i]);
	return n;
}

void dt_attach_functions_end(dt_bpf *e)
{
	if (!e->functions)
		return;
	e->functions->misses = dt_attach_function_misses(e);
	dt_vec_free(&e->functions->counting);
}

void dt_attach_functions_free(dt_bpf *e)
{
	free(e->functions);
	e->functions = NULL;
}

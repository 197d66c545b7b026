/*
 * attach_kernel: programs to functions and instructions of the kernel.
 *
 * There are three ways to be called when a function is entered or returns, and the kernel may have
 * any of them:
 *
 *	fentry, fexit	the function calls the program directly, through code the kernel makes for
 * it. By far the cheapest (a third of a kprobe on entry, a fifth on return, measured on 6.12), and a
 * return is never missed. But each function needs a program of its own, and must be known to BTF.
 *	kprobe.multi	one program and one link for any number of functions: the way for many.
 *	kprobe		a perf event for each: about 1 ms to make, because the kernel goes through
 * its whole list of functions for each, the same to let go, and nothing of it in parallel. The only
 * way to instructions.
 *
 * So few probes are fentry, many are kprobe.multi, and kprobes are what is left. Which it is, is
 * decided when probes are planned, because code reads its arguments in different ways: from what the
 * function was given (fentry), or from registers. Whether the kernel really takes a function by
 * fentry shows when it is attached: if not, the program is made once more, for the next way.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/image.h"
#include "kernel/ktrace.h"

#define FEW	    16	 /* probes, up to which each may have its own program */
#define MAX_KPROBES 5000 /* about a millisecond for each to be made, and as much to be let go of */

/* ---- which way ---- */

bool dt_plan_is_function(enum dt_probe_kind kind)
{
	return kind == PK_FUNC_ENTRY || kind == PK_FUNC_RETURN;
}

/* Does a clause on functions look at registers? fentry has none. */
static bool wants_regs(const dt_engine *e)
{
	for (uint32_t i = 0; i < e->clauses.n; i++)
		if (e->clauses.v[i].kinds & (1u << PK_FUNC_ENTRY | 1u << PK_FUNC_RETURN) &&
		    dt_clause_reads(e->clauses.v[i].c, DT_VAR_REGS))
			return true;
	return false;
}

/* The kernel looks a function up by its name: there must be only one of that name. */
static bool is_unique(dt_engine *e, const char *name)
{
	dt_kfuncs *kf = e->kfuncs;
	uint32_t it = 0, n;

	dt_kfuncs_all(kf, e->types, &n);
	if (!dt_kfuncs_find(kf, NULL, name, &it))
		return false;
	it++;
	return !dt_kfuncs_find(kf, NULL, name, &it);
}

static bool takes_direct_call(dt_engine *e, const struct dt_plan_probe *x)
{
	return is_unique(e, x->at.event) &&
	       dt_ktrace_takes_fentry(e->types, x->at.module, x->at.event,
				      x->kind == PK_FUNC_RETURN);
}

/* Probes of different ways are of different groups, hence in different programs. */
static void set_how(struct dt_plan_probe *x, enum dt_plan_how how)
{
	x->group |= (uint32_t)how << HOW_SHIFT;
}

int dt_plan_functions(dt_engine *e, dt_error *err)
{
	uint32_t functions = e->nevents[PK_FUNC_ENTRY] + e->nevents[PK_FUNC_RETURN], kprobes = 0;
	struct dt_ktrace k;
	bool direct;

	if (!functions && !e->nevents[PK_INSTRUCTION])
		return 0;
	dt_ktrace_probe(&k, e->types);
	e->has_kprobe_multi = k.multi;
	direct = k.fentry && functions <= FEW && !wants_regs(e);
	for (uint32_t i = 0; i < e->probes.n; i++) {
		struct dt_plan_probe *x = &e->probes.v[i];

		if (x->kind == PK_INSTRUCTION && !k.kprobe)
			return dt_err(err, EDT_NOPROBE, "%s",
				      *k.why
					  ? k.why
					  : "this kernel refuses kprobes, which instructions need");
		kprobes += x->kind == PK_INSTRUCTION;
		if (!dt_plan_is_function(x->kind))
			continue;
		if (*k.why)
			return dt_err(err, EDT_NOPROBE, "%s", k.why);
		if (direct && takes_direct_call(e, x)) {
			set_how(x, HOW_FENTRY);
		} else if (k.multi) {
			set_how(x, HOW_MULTI);
		} else if (k.kprobe) {
			set_how(x, HOW_KPROBE);
			kprobes++;
		} else {
			return dt_err(err, EDT_NOPROBE,
				      "cannot enable %s:%s:%s:%s: this kernel refuses kprobes, so "
				      "at most %d functions can be traced at once, "
				      "and only those that its type information has",
				      x->probe->prov, x->probe->mod, x->probe->func, x->probe->name,
				      FEW);
		}
	}
	if (kprobes > MAX_KPROBES)
		return dt_err(err, EDT_NOPROBE,
			      "%u probes are too many: at most %d, because %s; name fewer", kprobes,
			      MAX_KPROBES,
			      k.multi ? "the kernel probes each instruction on its own"
				      : "this kernel probes each function on its own. It is built "
					"without kprobe.multi, which takes any number of functions "
					"at once (CONFIG_FPROBE)");
	return 0;
}

/* ---- loading ---- */

int dt_attach_function_load(dt_engine *e, const struct dt_plan_prog *p, enum bpf_prog_type *type,
			    struct bpf_prog_load_opts *o)
{
	const dt_attach *at;
	int btf;

	if (dt_plan_is_function(p->kind) && HOW(p->group) == HOW_MULTI)
		o->expected_attach_type = BPF_TRACE_KPROBE_MULTI;
	if (!dt_plan_is_direct(p))
		return -1;
	at = &e->probes.v[p->only].at;
	btf = dt_ktrace_module_btf(at->module);
	*type = BPF_PROG_TYPE_TRACING;
	o->expected_attach_type = p->kind == PK_FUNC_RETURN ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY;
	o->attach_btf_id = dt_type_function_id(e->types, at->module, at->event);
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

/* A probe that only a pattern has found is left out, and counted. */
static int leave_out(dt_engine *e, const struct dt_plan_probe *x, const dt_error *why,
		     dt_error *err)
{
	if (!x->at.optional) {
		*err = *why;
		return -1;
	}
	if (e->left_out++ == 0)
		e->left_out_first = dt_arena_strdup(e->arena, why->text);
	return 0;
}

static int refused(dt_engine *e, const struct dt_plan_probe *x, int error, dt_error *err)
{
	dt_error why;

	if (!is_refusal(error))
		return refuse(x, error, err);
	refuse(x, error, &why);
	return leave_out(e, x, &why, err);
}

/* What was matched and is not traced has to be said; it is an error if it is all of them. */
static int judge(const dt_engine *e, uint32_t wanted, uint32_t left_out, dt_error *err)
{
	if (e->left_out > 1)
		dt_err(err, EDT_NOPROBE, "%u probes could not be enabled; %s", e->left_out,
		       e->left_out_first);
	else if (e->left_out)
		dt_err(err, EDT_NOPROBE, "%s", e->left_out_first);
	return left_out && left_out == wanted ? -1 : 0;
}

/* The address of the function; 0 and *err: it is not known. */
static uint64_t address_of(dt_engine *e, const struct dt_plan_probe *x, dt_error *err)
{
	dt_kfuncs *kf = e->kfuncs;
	uint32_t it = (uint32_t)x->at.number, n;
	uint64_t addr = 0;

	dt_kfuncs_all(kf, e->types, &n);
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
 * The cookie of a link says that, but the kernel looks for it among all addresses of the link: of all its functions that takes
 * longer than counting a call. So a program on many of them has a table by address, a word for each 16 bytes:
 * probe + 1, or event + 1 if its clauses are not on all. Where it is 0 the cookie tells: two functions in 16 bytes, several
 * probes on one function, functions of modules, which lie far away.
 */
#define MANY	   64
#define MAX_PLACES (16u << 20) /* 256 MB of code */

struct span {
	uint64_t from, to;
	uint32_t n;
};

/* The functions of vmlinux that a program is for. */
static struct span span_of(dt_engine *e, const struct dt_plan_prog *p)
{
	struct span s = {.from = UINT64_MAX};
	uint64_t addr;
	dt_error err;

	for (uint32_t i = 0; i < e->probes.n; i++)
		if (dt_plan_serves(e, p, i) && !e->probes.v[i].at.module &&
		    (addr = address_of(e, &e->probes.v[i], &err))) {
			s.from = addr < s.from ? addr : s.from;
			s.to = addr > s.to ? addr : s.to;
			s.n++;
		}
	return s;
}

static void fill_places(dt_engine *e, const struct dt_plan_prog *p, uint32_t *words)
{
	uint8_t *taken = dt_xcalloc(p->nplaces, 1);
	dt_error err;

	for (uint32_t i = 0; i < e->probes.n; i++) {
		const struct dt_plan_probe *x = &e->probes.v[i];
		uint64_t addr =
			     dt_plan_serves(e, p, i) && !x->at.module ? address_of(e, x, &err) : 0,
			 at = (addr - p->places_base) >> DT_BPF_PLACE_SHIFT;

		if (!addr)
			continue;
		words[at] = taken[at] ? 0 : p->masks ? x->event + 1 : i + 1;
		taken[at] = 1;
	}
	free(taken);
}

int dt_attach_function_places(dt_engine *e, struct dt_plan_prog *p, dt_error *err)
{
	struct span s;
	size_t size;
	void *words;

	if (HOW(p->group) != HOW_MULTI || p->nevents < MANY)
		return 0;
	s = span_of(e, p);
	if (s.n < MANY || (s.to - s.from) >> DT_BPF_PLACE_SHIFT >= MAX_PLACES)
		return 0;
	p->places_base = s.from;
	p->nplaces = (uint32_t)((s.to - s.from) >> DT_BPF_PLACE_SHIFT) + 1;
	size = dt_align_up((uint64_t)p->nplaces * 4, 4096);
	p->fd_places =
	    dt_kmap_make(e, BPF_MAP_TYPE_ARRAY, "dt_places", 4, size, 1, BPF_F_MMAPABLE, err);
	words = p->fd_places < 0 ? NULL : dt_kmap_memory(p->fd_places, size, err);
	if (!words)
		return -1;
	fill_places(e, p, words);
	munmap(words, size);
	return 0;
}

static void keep_link(dt_engine *e, const struct dt_plan_prog *p, int fd)
{
	dt_attach_keep(e, fd);
	*dt_vec_add(&e->function_links, NULL) =
	    (struct dt_function_link){fd, p->kind, HOW(p->group)};
}

struct batch {
	const struct dt_plan_prog *p;
	uint32_t *probes;
	uint64_t *addrs;
	__u64 *cookies;
	uint32_t n;
};

/* The kernel refuses all of them for one, and does not say which: look for it by halves. */
static int link_multi(dt_engine *e, const struct batch *b, uint32_t lo, uint32_t hi, dt_error *err)
{
	LIBBPF_OPTS(bpf_link_create_opts, o, .kprobe_multi.cnt = hi - lo,
		    .kprobe_multi.flags =
			b->p->kind == PK_FUNC_RETURN ? BPF_F_KPROBE_MULTI_RETURN : 0);
	const struct dt_plan_probe *x;
	int fd;

	if (lo == hi)
		return 0;
	x = &e->probes.v[b->probes[lo]];
	o.kprobe_multi.addrs = b->addrs + lo;
	o.kprobe_multi.cookies = b->cookies + lo;
	fd = bpf_link_create(b->p->fd, 0, BPF_TRACE_KPROBE_MULTI, &o);
	if (fd >= 0) {
		keep_link(e, b->p, fd);
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

/* The kernel finds the cookie by the address, so that a link may have each address but once: probes
 * at the same one (fbt's, and those of stable providers) get links of their own. */
static int link_all(dt_engine *e, const struct batch *b, dt_error *err)
{
	uint32_t *order = dt_xcalloc(b->n + 1, sizeof(*order)),
		 *rank = dt_xcalloc(b->n + 1, sizeof(*rank)), most = 0;
	struct batch part = {.p = b->p,
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
static int link_kprobe(const struct dt_plan_prog *p, const struct dt_plan_probe *x, int type,
		       uint64_t addr)
{
	struct perf_event_attr a = {.type = (uint32_t)type,
				    .size = sizeof(a),
				    .config =
					p->kind == PK_FUNC_RETURN, /* the PMU's "retprobe" bit */
				    .config2 = addr};

	return dt_attach_event(p->fd, &a, -1, 0, x->event);
}

static int attach_kprobes(dt_engine *e, const struct batch *b, dt_error *err)
{
	int type = dt_perf_type("kprobe");

	if (type < 0)
		return dt_err(err, ENOENT, "this kernel has no kprobes (CONFIG_KPROBE_EVENTS)");
	for (uint32_t i = 0; i < b->n; i++) {
		const struct dt_plan_probe *x = &e->probes.v[b->probes[i]];
		int fd = link_kprobe(b->p, x, type, b->addrs[i]);

		if (fd >= 0)
			keep_link(e, b->p, fd);
		else if (refused(e, x, errno, err) < 0)
			return -1;
	}
	return 0;
}

static int attach_batch(dt_engine *e, const struct dt_plan_prog *p, dt_error *err)
{
	struct batch b = {.p = p,
			  .probes = dt_xcalloc(e->probes.n, sizeof(*b.probes)),
			  .addrs = dt_xcalloc(e->probes.n, sizeof(*b.addrs)),
			  .cookies = dt_xcalloc(e->probes.n, sizeof(*b.cookies))};
	uint32_t before = e->left_out, unknown = 0;
	int rc = 0;

	for (uint32_t i = 0; i < e->probes.n && rc == 0; i++) {
		const struct dt_plan_probe *x = &e->probes.v[i];
		dt_error why;
		uint64_t addr;

		if (!dt_plan_serves(e, p, i) || !dt_plan_is_on(e, p, i))
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
		rc = dt_plan_is_function(p->kind) && HOW(p->group) == HOW_MULTI
			 ? link_all(e, &b, err)
			 : attach_kprobes(e, &b, err);
	if (rc == 0)
		rc = judge(e, b.n + unknown, e->left_out - before, err);
	free(b.probes);
	free(b.addrs);
	free(b.cookies);
	return rc;
}

/* The program for the same probe, once more: it is to be attached another way. */
static int fall_back(dt_engine *e, struct dt_plan_prog *p, dt_error *err)
{
	enum dt_plan_how how = e->has_kprobe_multi ? HOW_MULTI : HOW_KPROBE;

	close(p->fd);
	p->fd = -1;
	p->group = (p->group & ~(3u << HOW_SHIFT)) | (uint32_t)how << HOW_SHIFT;
	e->probes.v[p->only].group = p->group;
	return dt_load_program(e, p, err) < 0 ? -1 : attach_batch(e, p, err);
}

int dt_attach_functions(dt_engine *e, struct dt_plan_prog *p, dt_error *err)
{
	int fd;

	if (!dt_plan_is_direct(p))
		return attach_batch(e, p, err);
	fd = bpf_raw_tracepoint_open(NULL, p->fd);
	if (fd < 0)
		return fall_back(e, p, err);
	dt_attach_keep(e, fd);
	return 0;
}

/* ---- losses ---- */

/*
 * Firings the kernel did not let happen, that it counts at links: returns it had no room to wait
 * for, and probes inside other probes. Entries that kprobe.multi misses are not lost: only calls by
 * the tracer itself are left out there.
 */
static uint64_t link_misses(const struct dt_function_link *l)
{
	struct dt_link_info info = {0};
	uint32_t len = sizeof(info);

	if ((l->how == HOW_MULTI && l->kind == PK_FUNC_ENTRY) ||
	    bpf_obj_get_info_by_fd(l->fd, &info, &len) < 0)
		return 0;
	return l->how == HOW_MULTI ? info.multi.missed : info.kprobe.missed;
}

uint64_t dt_attach_function_misses(const dt_engine *e)
{
	uint64_t n = e->function_misses;

	for (uint32_t i = 0; i < e->function_links.n; i++)
		n += link_misses(&e->function_links.v[i]);
	return n;
}

void dt_attach_functions_end(dt_engine *e)
{
	e->function_misses = dt_attach_function_misses(e);
	dt_vec_free(&e->function_links);
}

/* ---- counters ---- */

static int attach_counter(dt_engine *e, const struct dt_plan_prog *p, const struct dt_plan_probe *x,
			  int cpu, dt_error *err)
{
	struct perf_event_attr a = {.type = x->at.perf_type,
				    .size = sizeof(a),
				    .config = x->at.number,
				    .sample_period = x->at.period,
				    .exclude_user = x->at.exclude_user,
				    .exclude_kernel = x->at.exclude_kernel};
	int link = dt_attach_event(p->fd, &a, -1, cpu, x->event);

	if (link < 0 && errno == ENODEV)
		return 0; /* the CPU is off */
	if (link < 0)
		return errno == EPERM || errno == EACCES
			   ? dt_load_error(err, "count events in")
			   : dt_err(err, errno, "cannot count %s on CPU %d: %s", x->probe->name,
				    cpu, dt_strerror(errno));
	dt_attach_keep(e, link);
	return 0;
}

int dt_attach_counters(dt_engine *e, const struct dt_plan_prog *p, dt_error *err)
{
	bool one = e->opts->is_set[DT_O_CPU];

	for (uint32_t i = 0; i < e->probes.n; i++) {
		const struct dt_plan_probe *x = &e->probes.v[i];

		if (!dt_plan_serves(e, p, i) || !dt_plan_is_on(e, p, i))
			continue;
		for (uint32_t cpu = 0; cpu < e->ncpus; cpu++)
			if ((!one || cpu == dt_opt(e->opts, DT_O_CPU)) &&
			    attach_counter(e, p, x, (int)cpu, err) < 0)
				return -1;
	}
	return 0;
}

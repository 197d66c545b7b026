/*
 * load: loads programs into the kernel, and reports why it refuses one. Maps are created before
 * (bpf_maps.c, cpu_buffers.c). Everything is a file descriptor of this process and disappears with
 * it; nothing is pinned.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bpf/code/code_listing.h"
#include "bpf/code/prog_btf.h"
#include "bpf/run/attaching.h"
#include "bpf/run/load.h"
#include "kernel/links.h"
#include "kernel/lockdown.h"
#include "kernel/privilege.h"

/* Why bpf() failed. EPERM nearly always means missing privilege; say which, and how to get it. */
int dt_load_error(dt_error *err, const char *doing)
{
	int e = errno;
	char advice[768];

	if (e == EPERM || e == EACCES) {
		dt_privilege_advice(advice, sizeof(advice));
		return dt_err(err, EPERM, "cannot %s the kernel: %s", doing, advice);
	}
	return dt_err(err, e, "cannot %s the kernel: %s", doing, dt_strerror(e));
}

#define LOG_SIZE (16u << 20)

/* The end of the verifier's log, for a message that should never be seen. */
static void explain(enum bpf_prog_type type, const dt_code *c, struct bpf_prog_load_opts *o,
		    dt_error *err)
{
	char *log = dt_xcalloc(1, LOG_SIZE), *last;
	enum dt_lockdown lockdown = dt_lockdown();
	size_t n;

	o->log_buf = log;
	o->log_size = LOG_SIZE;
	o->log_level = getenv("DTRACE_BPF_LOG") ? 2 : 1;
	bpf_prog_load(type, "dtrace", "Dual BSD/GPL", c->insns.v, c->insns.n, o);
	if (getenv("DTRACE_BPF_LOG"))
		fputs(log, stderr);
	for (n = strlen(log); n && (log[n - 1] == '\n' || strncmp(log + n - 1, "\nproc", 5) == 0);
	     n--)
		log[n - 1] = 0;
	last = strrchr(log, '\n');
	if (last && strstr(last, "processed ")) {
		*last = 0;
		last = strrchr(log, '\n');
	}
	if (strstr(last ? last : log,
		   "bpf_probe_write_user")) /* the helper itself was refused, not its arguments */
		dt_err(err, EPERM,
		       "the kernel does not let %s write user memory, so copyout() and "
		       "copyoutstr() cannot be used%s",
		       lockdown ? "BPF programs"
				: "BPF programs without the capability CAP_SYS_ADMIN",
		       lockdown ? ": it is locked down (kernel lockdown, integrity mode)" : "");
	else if (lockdown == DT_LOCKDOWN_CONFIDENTIALITY)
		dt_err(err, EPERM,
		       "the kernel does not let BPF programs read its memory: it is locked "
		       "down (kernel lockdown, confidentiality mode)");
	else
		dt_err(err, EDT_DIFINVAL, "the kernel refuses the program: %s",
		       last ? last + 1 : log);
	free(log);
}

/* A program loaded for one tracepoint has typed pointers in its context. */
static int trust_arguments(const dt_plan *plan, const struct dt_plan_prog *p,
			   enum bpf_prog_type *type, struct bpf_prog_load_opts *o, dt_error *err)
{
	const char *event = plan->probes.v[p->only].at.event;
	uint32_t id = dt_tr_tracepoint_id(plan, event);

	if (!id)
		return dt_err(err, EDT_NOPROBE,
			      "this kernel's type information has no tracepoint %s", event);
	*type = BPF_PROG_TYPE_TRACING;
	o->expected_attach_type = BPF_TRACE_RAW_TP;
	o->attach_btf_id = id;
	return 0;
}

static void dump(const dt_code *c)
{
	dt_buf text = {0};

	if (!getenv("DTRACE_BPF_DUMP"))
		return;
	dt_code_print(c, &text);
	fputs(text.s, stderr);
	dt_buf_free(&text);
}

enum outcome { LOADED, REFUSED, AGAIN }; /* AGAIN: without something of struct dt_tr_loads */

static bool has_jumps_back(const dt_code *c)
{
	for (uint32_t i = 0; i < c->insns.n; i++)
		if (c->insns.v[i].code == DT_MAY_GOTO)
			return true;
	return false;
}

static bool has_global_keys(const dt_code *c)
{
	for (uint32_t i = 0; i < c->funcs.n; i++)
		if (c->funcs.v[i].keys && c->funcs.v[i].nargs)
			return true;
	return false;
}

/* What to do about a program that the kernel refused (errno). */
static enum outcome refused(dt_bpf *e, enum bpf_prog_type type, const dt_code *c,
			    struct bpf_prog_load_opts *o, dt_error *err)
{
	if (errno == EPERM || errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
		dt_load_error(err, "load a program into");
		return REFUSED;
	}
	if (e->loads.memory_keys && has_global_keys(c)) {
		e->loads.memory_keys = false;
		return AGAIN;
	}
	if (e->loads.calls && e->plan.bodies.n) {
		e->loads.calls = false;
		return AGAIN;
	}
	if (e->loads.loops && has_jumps_back(c)) {
		e->loads.loops = false;
		return AGAIN;
	}
	if (e->loads.trusts) {
		e->loads.trusts = false;
		return AGAIN;
	}
	if (e->loads.casts) {
		e->loads.casts = false;
		return AGAIN;
	}
	explain(type, c, o, err);
	return REFUSED;
}

/* A program on its way into the kernel. */
struct job {
	uint32_t prog;
	dt_code code;
	enum bpf_prog_type type;
	struct bpf_prog_load_opts opts;
	struct bpf_func_info *info;
	int btf, module; /* descriptors, or 0 */
	int error;	 /* errno of the load; 0: the program has been loaded */
};

static void free_job(struct job *j)
{
	if (j->btf > 0)
		close(j->btf);
	if (j->module > 0)
		close(j->module);
	free(j->info);
	dt_code_free(&j->code);
}

/* Everything but the load itself. */
static int prepare(dt_bpf *e, struct job *j, dt_error *err)
{
	const struct dt_plan_prog *p = &e->plan.progs.v[j->prog];
	struct dt_loaded *to = &e->loaded.v[j->prog];
	struct dt_tr_input in = dt_bpf_input(e);
	struct bpf_prog_load_opts *o = &j->opts;

	to->typed = dt_tr_typed_args(&e->plan, &e->loads, j->prog);
	if (dt_tr_program(&in, j->prog, NULL, NULL, &j->code, err) < 0)
		return -1;
	dump(&j->code);
	o->sz = sizeof(*o);
	o->func_info_rec_size = sizeof(struct bpf_func_info);
	j->type = dt_kind_of(p->kind)->type;
	j->info = dt_xcalloc(j->code.funcs.n, sizeof(*j->info));
	j->btf = dt_code_btf(&j->code, e->at.slot_size, j->info);
	if (j->btf < 0)
		return dt_load_error(err, "load type information into");
	if (dt_kind_of(p->kind)->waits && (e->needs.waiting || j->code.sleeps))
		o->prog_flags |= BPF_F_SLEEPABLE;
	if (dt_kind_is_user(p->kind) && dt_plan_can(&e->plan, UPROBE_MULTI))
		o->expected_attach_type = DT_BPF_TRACE_UPROBE_MULTI;
	j->module = dt_attach_function_load(&e->plan, p, &j->type, o);
	if ((p->group.task_arg || (to->typed && p->kind == PK_TRACEPOINT)) &&
	    trust_arguments(&e->plan, p, &j->type, o, err) < 0)
		return -1;
	o->prog_btf_fd = (uint32_t)j->btf;
	o->func_info = j->info;
	o->func_info_cnt = j->code.funcs.n;
	return 0;
}

/* The kernel verifies the program, which is most of the time of a start. It works on several programs at once. */
static void put_in(dt_bpf *e, struct job *j)
{
	int fd = bpf_prog_load(j->type, "dtrace", "Dual BSD/GPL", j->code.insns.v, j->code.insns.n, &j->opts);

	e->loaded.v[j->prog].fd = fd;
	j->error = fd < 0 ? errno : 0;
}

int dt_load_program(dt_bpf *e, uint32_t prog, dt_error *err)
{
	enum outcome rc;

	do {
		struct job j = {.prog = prog};

		rc = REFUSED;
		if (prepare(e, &j, err) == 0) {
			put_in(e, &j);
			errno = j.error;
			rc = j.error ? refused(e, j.type, &j.code, &j.opts, err) : LOADED;
		}
		free_job(&j);
	} while (rc == AGAIN);
	return rc == LOADED ? 0 : -1;
}

struct jobs {
	dt_bpf *e;
	DT_VEC(struct job) v;
};

static void put_in_one(void *arg, uint32_t i)
{
	struct jobs *all = arg;

	put_in(all->e, &all->v.v[i]);
	dt_progress_add(all->e->progress, 1);
}

/* Those from number `first` on. One that the kernel refuses is tried again by itself. */
static int load_together(dt_bpf *e, uint32_t first, dt_error *err)
{
	struct jobs all = {.e = e};
	int rc = 0;

	for (uint32_t i = first; i < e->plan.progs.n && rc == 0; i++) {
		if (e->plan.progs.v[i].lazy)
			continue;
		*dt_vec_add(&all.v, NULL) = (struct job){.prog = i};
		rc = prepare(e, &all.v.v[all.v.n - 1], err);
	}
	if (rc == 0)
		dt_together(all.v.n, put_in_one, &all);
	for (uint32_t i = 0; i < all.v.n; i++) {
		if (rc == 0 && all.v.v[i].error)
			rc = dt_load_program(e, all.v.v[i].prog, err);
		free_job(&all.v.v[i]);
	}
	dt_vec_free(&all.v);
	return rc;
}

int dt_load_all(dt_bpf *e, dt_error *err)
{
	const dt_plan *p = &e->plan;
	struct dt_step outer = dt_progress_begin(e->progress, p->progs.n, "loading programs");
	uint32_t first = 0;

	while (first < p->progs.n && p->progs.v[first].lazy)
		first++;
	/* The first one tells what the kernel refuses (struct dt_tr_loads). */
	if (first < p->progs.n && dt_load_program(e, first, err) < 0)
		return -1;
	if (load_together(e, first + 1, err) < 0)
		return -1;
	dt_progress_end(e->progress, &outer);
	for (uint32_t i = 0; i < p->progs.n; i++)
		if (dt_plan_is_continued(p, i) &&
		    bpf_map_update_elem(e->prog_maps.v[i].next, &(uint32_t){0},
					&e->loaded.v[i + 1].fd, 0) < 0)
			return dt_err(err, errno, "cannot join two programs: %s",
				      dt_strerror(errno));
	return 0;
}

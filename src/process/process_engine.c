/*
 * process_engine: the engine interface. See process.h.
 *
 * BEGIN and END run here, in an interpreter whose global variables are those of the target while it is traced. A program
 * without any other probe is the interpreter's alone.
 */
#include <errno.h>
#include <linux/futex.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/arch.h"
#include "process/process.h"
#include "proc/control.h"

#define CONSTANTS (1u << 20) /* room for programs; and for each ECB: */
#define PER_ECB	  16384

static int refuse(dt_error *err, const char *what)
{
	return dt_err(err, EDT_NOPROBE, "-x engine=process: %s", what);
}

/* ---- what is available ---- */

static const char *missing_subr(uint32_t id)
{
	const struct dt_subr_desc *d;

	switch (id) {
#define DT_PE_SUBR(sym) case DT_SUBR_##sym: return NULL;
#include "process/available.def"
	default: break;
	}
	if (id >= DT_CALL_FUNCTION)
		return NULL;
	d = dt_subr_find(id);
	return d && d->name ? d->name : "a subroutine";
}

static const char *missing_var(uint32_t id)
{
	const struct dt_builtin_var_desc *d;

	switch (id) {
#define DT_PE_VAR(sym) case DT_VAR_##sym: return NULL;
#include "process/available.def"
	default: break;
	}
	d = dt_builtin_var_find(id);
	return d ? d->name : "a variable";
}

static int check_difo(const dt_difo *d, dt_error *err)
{
	for (uint32_t i = 0; i < d->len; i++) {
		uint32_t op = DT_I_OP(d->text[i]), index = DT_I_INDEX(d->text[i]);
		const char *subr = op == DT_OP_CALL ? missing_subr(index) : NULL;
		const char *var = op == DT_OP_LDGS && index < DT_VAR_USER_MIN ? missing_var(index)
				  : op == DT_OP_LDGA			     ? missing_var(DT_I_R1(d->text[i]))
									     : NULL;

		if (subr)
			return dt_err(err, EDT_NOPROBE, "-x engine=process: %s() is not available", subr);
		if (var)
			return dt_err(err, EDT_NOPROBE, "-x engine=process: variable %s is not available", var);
	}
	return 0;
}

static int check_clause(const struct dt_vm_ecb *x, dt_error *err)
{
	const dt_clause *c = x->ecb->clause;

	DT_EACH_DIFO(it, c)
		if (check_difo(it.difo, err) < 0)
			return -1;
	for (uint32_t i = 0; i < c->nactions; i++) {
		const struct dt_action_plan *p = &x->record.actions[i];
		bool refused = p->payload == DT_PAYLOAD_STACK || p->payload == DT_PAYLOAD_IMMSTACK || p->payload == DT_PAYLOAD_SYM ||
			       p->payload == DT_PAYLOAD_PACKET;

		switch (p->effect) {
		case DT_EFFECT_STOP: refused = true; break;
		default: break;
		}
		if (refused)
			return dt_err(err, EDT_NOPROBE, "-x engine=process: %s() is not available", dt_act_name(c->actions[i].kind));
		if (p->role == DT_ROLE_AGG && p->agg->nkeys > DT_PE_KEYS_MAX)
			return refuse(err, "an aggregation has too many keys");
	}
	return 0;
}

static int check_options(const dt_pe *p, dt_error *err)
{
	if (dt_pe_runtime_size < DT_PE_ANCHOR_SIZE) /* none was made: Makefile */
		return refuse(err, "it is not available on this CPU");
	if (dt_opt(p->opts, DT_O_BUFPOLICY) != DT_BUFPOLICY_SWITCH)
		return refuse(err, "only bufpolicy=switch is available");
	if (dt_opt(p->opts, DT_O_FOLLOW))
		return refuse(err, "option follow is not available");
	if (dt_opt(p->opts, DT_O_POLICY) == DT_POLICY_LOSSLESS)
		return refuse(err, "policy=lossless is not available");
	return 0;
}

/* The process of -c or -p; 0 with *err: there is none, or not one. */
static long only_process(const dt_pe *p, dt_error *err)
{
	const dt_proc *only = p->env->procs ? dt_procs_nth(p->env->procs, 0) : NULL;

	if (only && !dt_procs_nth(p->env->procs, 1)) { /* it has its libraries by then */
		only = dt_procs_need(p->env->procs, only->pid, err);
		return only ? only->pid : 0;
	}
	refuse(err, "profile and syscall probes need a process, by -c or -p, and only one");
	return 0;
}

/* Where the events of a probe are: *pid is set, or the same. */
static int check_events(const dt_pe *p, const dt_ecb *ecb, long *pid, dt_error *err)
{
	for (uint32_t k = 0; k < ecb->events->n; k++) {
		const dt_attach *a = &ecb->events->v[k].at;
		bool anywhere = a->kind == DT_AT_CLOCK || (dt_pe_is_call(ecb) && !ecb->events->v[k].prologue);
		long at = anywhere ? only_process(p, err) : a->pid;

		if (!at && anywhere)
			return -1;
		if (!at || (!anywhere && !a->path))
			return dt_err(err, EDT_NOPROBE, "-x engine=process: %s:%s:%s:%s is not a probe in one process", ecb->probe->prov,
				      ecb->probe->mod, ecb->probe->func, ecb->probe->name);
		if (*pid && *pid != at)
			return refuse(err, "probes in several processes are not available");
		*pid = at;
	}
	return 0;
}

/* A clause of tick runs here, while the target has the speculations. */
static int check_tick(const struct dt_vm_ecb *x, dt_error *err)
{
	for (uint32_t i = 0; i < x->ecb->clause->nactions; i++)
		switch (x->record.actions[i].effect) {
		case DT_EFFECT_COMMIT:
		case DT_EFFECT_DISCARD:
		case DT_EFFECT_SPECULATE: return refuse(err, "speculations are not available in clauses of tick");
		default: break;
		}
	return 0;
}

/* The process that probes are in: one. 0: there are no such probes. */
static int check_probes(dt_pe *p, long *pid, dt_error *err)
{
	*pid = 0;
	for (uint32_t i = 0; i < p->host->necbs; i++) {
		const struct dt_vm_ecb *x = &p->host->ecbs[i];
		bool tick = dt_pe_is_clock(x->ecb) && !dt_pe_is_sampled(x->ecb);

		if (x->probe == DT_VM_BEGIN || x->probe == DT_VM_END)
			continue;
		if (x->probe == DT_VM_OTHER && !tick && check_events(p, x->ecb, pid, err) < 0)
			return -1;
		if ((tick ? check_tick(x, err) : check_clause(x, err)) < 0)
			return -1;
	}
	return 0;
}

/* ---- variables ---- */

/* From here on the variables of BEGIN are those of the target. */
static void share_variables(dt_pe *p)
{
	dt_vm *vm = &p->host->vm;

	p->host_globals = vm->globals;
	p->host_dyn = vm->dyn;
	vm->globals.values = dt_pe_alloc(&p->memory, vm->globals.n * sizeof(uint64_t));
	vm->globals.statics = dt_pe_alloc(&p->memory, vm->globals.statics_size);
	if (!vm->dyn.nchunks)
		return;
	vm->dyn.pool = dt_pe_alloc(&p->memory, vm->dyn.chunk * vm->dyn.nchunks);
	vm->dyn.buckets = dt_pe_alloc(&p->memory, vm->dyn.nbuckets * sizeof(uint32_t));
	vm->dyn.state = dt_pe_alloc(&p->memory, sizeof(*vm->dyn.state));
}

/* And here they are our own again: what the target does to shared memory no longer matters. */
static void take_variables(dt_pe *p)
{
	dt_vm *vm = &p->host->vm;

	if (!p->host_globals.values)
		return;
	memcpy(p->host_globals.values, vm->globals.values, vm->globals.n * sizeof(uint64_t));
	memcpy(p->host_globals.statics, vm->globals.statics, vm->globals.statics_size);
	vm->globals = p->host_globals;
	if (vm->dyn.nchunks) {
		memcpy(p->host_dyn.pool, vm->dyn.pool, vm->dyn.chunk * vm->dyn.nchunks);
		memcpy(p->host_dyn.buckets, vm->dyn.buckets, vm->dyn.nbuckets * sizeof(uint32_t));
		*p->host_dyn.state = *vm->dyn.state;
		p->host_dyn.state->lock = 0;
		vm->dyn = p->host_dyn;
	}
	p->host_globals.values = NULL;
}

/* ---- opening ---- */

/* All events of a probe, or none: a return that is missing would be wrong. */
static bool place_all(dt_pe *p, struct dt_pe_files *files, uint32_t i, dt_error *err)
{
	const dt_ecb *ecb = p->host->ecbs[i].ecb;
	uint32_t k;

	for (k = 0; k < ecb->events->n; k++) {
		struct dt_pe_place *x = dt_pe_place(&p->places, files, ecb->probe, &ecb->events->v[k], err);

		if (!x)
			break;
		*dt_vec_add(&x->ecbs, NULL) = i;
	}
	if (k == ecb->events->n)
		return true;
	for (uint32_t at = 0; at < p->places.n; at++) {
		struct dt_pe_place *x = p->places.v[at];

		if (x->ecbs.n && x->ecbs.v[x->ecbs.n - 1] == i)
			x->ecbs.n--;
	}
	return false;
}

static void forget_empty(dt_pe_places *all)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < all->n; i++) {
		if (all->v[i]->ecbs.n) {
			all->v[n++] = all->v[i];
			continue;
		}
		dt_vec_free(&all->v[i]->ecbs);
		free(all->v[i]);
	}
	all->n = n;
}

static int find_places(dt_pe *p, const dt_maps *maps, dt_error *err)
{
	struct dt_pe_files *files = dt_pe_files_new(p->target.pid, dt_procs_jail(p->env->procs), maps);
	dt_error first = {0}, more;
	uint32_t refused = 0;

	for (uint32_t i = 0; i < p->host->necbs; i++)
		if (p->host->ecbs[i].probe == DT_VM_OTHER && !dt_pe_is_clock(p->host->ecbs[i].ecb) && !dt_pe_is_call(p->host->ecbs[i].ecb) && !place_all(p, files, i, refused ? &more : &first))
			refused++;
	forget_empty(&p->places);
	dt_pe_calls_place(p, files, refused ? &more : &p->remark);
	dt_pe_places_share(&p->places);
	dt_pe_files_free(files);
	if (refused && !p->places.n)
		return dt_err(err, EDT_NOPROBE, "-x engine=process: %s", first.text);
	if (refused > 1)
		dt_err(&p->remark, EDT_NOPROBE, "%u probes are not available in the process, one of them: %s", refused, first.text);
	else if (refused)
		dt_err(&p->remark, EDT_NOPROBE, "a probe is not available in the process: %s", first.text);
	return 0;
}

static bool shows_it(const struct dt_vm_ecb *x)
{
	return x->record.cost || dt_clause_reads(x->ecb->clause, DT_VAR_CPU);
}

static bool make_sites(dt_pe *p)
{
	for (uint32_t i = 0; i < p->places.n; i++) {
		struct dt_pe_place *x = p->places.v[i];
		struct dt_pe_site *s = dt_pe_alloc(&p->memory, sizeof(*s));
		const struct dt_vm_ecb **list = dt_pe_alloc(&p->memory, x->ecbs.n * sizeof(*list));

		bool shows_cpu = false;

		if (!s || !list)
			return false;
		for (uint32_t k = 0; k < x->ecbs.n; k++) {
			list[k] = &p->program.ecbs[x->ecbs.v[k]];
			shows_cpu = shows_cpu || shows_it(&p->host->ecbs[x->ecbs.v[k]]);
		}
		*s = (struct dt_pe_site){.at = x->patch.at + x->patch.probe,
					 .is_return = x->event->at.kind == DT_AT_URETPROBE,
					 .call = x->call,
					 .call_at = x->call_at,
					 .is_entry = !x->call && strcmp(p->host->ecbs[x->ecbs.v[0]].ecb->probe->name, "entry") == 0,
					 .shows_cpu = shows_cpu,
					 .number = x->event->at.number,
					 .ecbs = list,
					 .necbs = x->ecbs.n,
					 .prologue = dt_pe_share_prologue(&p->memory, x->event->prologue)};
		x->patch.site = (uint64_t)(uintptr_t)s;
	}
	return !p->memory.full;
}

static void set_registers(struct dt_pe_shared *sh)
{
	const dt_arch *a = dt_arch_host();

	memcpy(sh->reg, a->frame, sizeof(a->frame));
	for (uint32_t i = 0; i < DT_NELEM(sh->arg) && i < a->call.nargs; i++)
		sh->arg[i] = a->frame[a->call.arg[i]];
	sh->result = a->frame[a->call.result];
	sh->stack_at = a->frame_size;
	sh->pc_at = a->frame_pc;
	sh->pc = a->pc;
	sh->sp = a->sp;
}

static bool make_shared(dt_pe *p)
{
	const struct dt_vm_ecb **errors;
	char path[64], *name;
	size_t n = 0;

	p->shared = dt_pe_alloc(&p->memory, sizeof(*p->shared));
	errors = dt_pe_alloc(&p->memory, p->host->necbs * sizeof(*errors));
	if (!p->shared || !errors || !dt_pe_share(&p->program, &p->memory) || !make_sites(p) || !dt_pe_clocks_make(p, true))
		return false;
	snprintf(path, sizeof(path), "/proc/%ld/comm", p->target.pid);
	name = dt_slurp(-1, path, &n);
	if (name && n)
		name[strcspn(name, "\n")] = 0;
	p->shared->execname = dt_pe_copy(&p->memory, name ? name : "", name ? strlen(name) + 1 : 1);
	free(name);
	for (uint32_t i = 0; i < p->host->necbs; i++)
		if (p->host->ecbs[i].probe == DT_VM_ERROR)
			errors[p->shared->nerrors++] = &p->program.ecbs[i];
	p->shared->errors = errors;
	set_registers(p->shared);
	dt_pe_unwind_share(p);
	if (!dt_pe_calls_share(p))
		return false;
	p->shared->ecbs = p->program.ecbs;
	share_variables(p);
	return !p->memory.full && dt_pe_compile(p) && dt_pe_slots_make(p);
}

static int open_target(dt_pe *p, long pid, dt_error *err)
{
	const dt_vm *vm = &p->host->vm;
	const dt_proc *proc = p->env->procs ? dt_procs_find(p->env->procs, pid) : NULL;
	uint64_t size = CONSTANTS + (uint64_t)p->host->necbs * PER_ECB + dt_pe_slots_size(p) + vm->globals.n * 8ull +
			vm->globals.statics_size + vm->dyn.chunk * vm->dyn.nchunks + vm->dyn.nbuckets * 4ull + 4096;
	dt_maps *maps = dt_maps_read(pid, err), *now;
	int rc = -1;

	if (maps)
		size += dt_pe_unwind_read(p, pid, maps);
	p->target.pid = pid;
	p->target.hold = proc ? proc->hold : NULL;
	p->created = proc && proc->origin == DT_PROC_CREATED;
	if (maps && find_places(p, maps, err) == 0)
		p->keeper = dt_pe_keeper_start(&p->target, err);
	if (p->keeper && dt_pe_target_enter(&p->target, maps, size, err) == 0) {
		rc = make_shared(p) ? 0 : refuse(err, "the program is too large");
		now = rc == 0 ? dt_maps_read(pid, err) : NULL; /* with what we have mapped */
		rc = now && dt_pe_target_stubs(&p->target, now, err) == 0 ? dt_pe_clocks_stubs(p, now, err) : -1;
		dt_maps_free(now);
	}
	dt_maps_free(maps);
	return rc;
}

static void pe_close(dt_pe *p)
{
	dt_error ignored;

	if (!p)
		return;
	dt_pe_clocks_free(p);
	if (p->target.in)
		dt_pe_target_leave(&p->target, &ignored);
	dt_pe_keeper_free(p->keeper);
	take_variables(p);
	dt_pe_program_free(&p->program);
	dt_pe_slots_free(p);
	dt_pe_unwind_free(p);
	dt_pe_places_free(&p->places);
	dt_pe_target_free(&p->target);
	if (p->memory.base)
		munmap(p->memory.base, p->memory.size);
	if (p->wake_fd >= 0)
		close(p->wake_fd);
	if (p->host)
		dt_engine_vm.close((dt_engine *)p->host);
	free(p->drops);
	free(p->agg_drops);
	free(p);
}

static dt_pe *pe_open(const struct dt_engine_env *env, dt_error *err)
{
	dt_pe *p = dt_xcalloc(1, sizeof(*p));
	long pid = 0;

	p->env = env;
	p->opts = env->opts;
	p->wake_fd = p->clock_fd = -1;
	if (!dt_pe_target_init(&p->target, &p->memory, &p->places)) {
		dt_err(err, errno, NULL);
		pe_close(p);
		return NULL;
	}
	p->host = (dt_vm_engine *)dt_engine_vm.open(env, err);
	if (!p->host || check_probes(p, &pid, err) < 0 || (pid && check_options(p, err) < 0)) {
		pe_close(p);
		return NULL;
	}
	p->drops = dt_xcalloc(p->host->ncpus, sizeof(*p->drops));
	p->agg_drops = dt_xcalloc(p->host->ncpus, sizeof(*p->agg_drops));
	p->program.host = p->host;
	p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (pid ? open_target(p, pid, err) < 0 : !dt_pe_clocks_make(p, false)) {
		pe_close(p);
		return NULL;
	}
	return p;
}

/* ---- waiting: the target wakes a futex, which is waited for by a thread of ours ---- */

static void *wait_for_target(void *arg)
{
	dt_pe *p = arg;
	uint32_t *word = &p->shared->wake, seen = 0;
	uint64_t one = 1;

	while (!__atomic_load_n(&p->stopping, __ATOMIC_SEQ_CST)) {
		uint32_t now = __atomic_load_n(word, __ATOMIC_SEQ_CST);

		if (now != seen && write(p->wake_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
			break;
		seen = now;
		syscall(SYS_futex, word, FUTEX_WAIT, now, NULL, NULL, 0);
	}
	return NULL;
}

static void start_waiting(dt_pe *p)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	p->waits = pthread_create(&p->waiter, NULL, wait_for_target, p) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void stop_waiting(dt_pe *p)
{
	if (!p->waits)
		return;
	__atomic_store_n(&p->stopping, true, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&p->shared->wake, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &p->shared->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	pthread_join(p->waiter, NULL);
	p->waits = false;
}

/* ---- running ---- */

static int op_go(dt_engine *e, dt_error *err)
{
	dt_pe *p = (dt_pe *)e;

	if (dt_engine_vm.go((dt_engine *)p->host, err) < 0)
		return -1;
	if (!p->host->exiting && !p->shared)
		dt_pe_clocks_start(p);
	if (!p->shared)
		return 0;
	if (p->host->exiting)
		return dt_pe_target_leave(&p->target, err);
	dt_pe_specs_share(p);
	p->shared->live = 1;
	if (dt_pe_target_patch(&p->target, err) < 0)
		return -1;
	p->target.hold = NULL; /* the session releases it */
	start_waiting(p);
	dt_pe_clocks_start(p);
	if (p->remark.text[0])
		*err = p->remark;
	return 0;
}

static int op_stop(dt_engine *e, dt_error *err)
{
	dt_pe *p = (dt_pe *)e;
	int rc = 0;

	dt_pe_clocks_stop(p);
	if (p->shared && !p->ended) {
		__atomic_store_n(&p->shared->live, 0, __ATOMIC_SEQ_CST);
		stop_waiting(p);
		rc = dt_pe_target_leave(&p->target, err);
		dt_pe_keeper_free(p->keeper);
		p->keeper = NULL;
		take_variables(p);
		dt_pe_specs_take(p);
	}
	p->ended = true;
	return dt_engine_vm.stop((dt_engine *)p->host, err) < 0 ? -1 : rc;
}

static int op_status(dt_engine *e, dt_status *st)
{
	dt_pe *p = (dt_pe *)e;

	dt_engine_vm.status((dt_engine *)p->host, st);
	if (!p->shared)
		return 0;
	dt_pe_slots_status(p, st);
	if (__atomic_load_n(&p->shared->exiting, __ATOMIC_SEQ_CST) && !st->exiting) {
		st->exiting = true;
		st->exit_status = p->shared->exit_status;
	}
	st->running = !p->ended;
	return 0;
}

static int op_consume(dt_engine *e, const dt_sink *sink)
{
	dt_pe *p = (dt_pe *)e;

	if (!p->shared)
		return dt_engine_vm.consume((dt_engine *)p->host, sink);
	dt_pe_take_host(p);
	return dt_pe_slots_consume(p, sink);
}

static int op_snapshot(dt_engine *e, const dt_sink *sink, dt_error *err)
{
	dt_pe *p = (dt_pe *)e;
	int rc = dt_engine_vm.snapshot((dt_engine *)p->host, sink, err);

	return rc == 0 && p->shared ? dt_pe_slots_snapshot(p, sink) : rc;
}

static bool op_attend(dt_engine *e)
{
	dt_pe *p = (dt_pe *)e;
	uint64_t n;
	bool woken = p->wake_fd >= 0 && read(p->wake_fd, &n, sizeof(n)) == sizeof(n), ticked = dt_pe_clocks_fire(p);

	return woken && !ticked;
}

static int op_wake_fd(const dt_engine *e)
{
	return ((const dt_pe *)e)->wake_fd;
}

static dt_engine *op_open(const struct dt_engine_env *env, dt_error *err)
{
	return (dt_engine *)pe_open(env, err);
}

static void op_close(dt_engine *e)
{
	stop_waiting((dt_pe *)e);
	pe_close((dt_pe *)e);
}

const struct dt_engine_ops dt_engine_process = {
    .name = "process",
    .open = op_open,
    .go = op_go,
    .stop = op_stop,
    .status = op_status,
    .consume = op_consume,
    .snapshot = op_snapshot,
    .attend = op_attend,
    .wake_fd = op_wake_fd,
    .enters = true,
    .live = true,
    .close = op_close,
};

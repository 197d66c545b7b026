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
#define LATER_MAX 65536		/* ECBs that may come while it runs ... */
#define GROWTH	  (64u << 20)	/* ... and room for them */

static int refuse(dt_error *err, const char *what)
{
	return dt_err(err, EDT_NOPROBE, "-x engine=process: %s", what);
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

/* Clauses that have no probe yet are prepared as the others are, since all memory is shared at the beginning. */
static int add_waiting(dt_pe *p, dt_error *err)
{
	const struct dt_engine_env *env = p->env;
	uint32_t n = 0, was = p->host->necbs;

	p->waiting = dt_xcalloc(env->nclauses + 1, sizeof(*p->waiting));
	p->ecbs_cap = was + env->nclauses;
	for (uint32_t i = 0; i < env->nclauses; i++)
		p->grows = p->grows || env->clauses[i].kinds;
	p->ecbs_cap += p->grows ? LATER_MAX : 0;
	p->host->ecbs = dt_xrealloc(p->host->ecbs, (p->ecbs_cap + 1ull) * sizeof(*p->host->ecbs));
	for (uint32_t i = 0; i < env->nclauses; i++) {
		struct dt_vm_ecb *x = &p->host->ecbs[p->host->necbs];
		bool has = !env->clauses[i].kinds;

		for (uint32_t k = 0; k < was && !has; k++)
			has = env->ecbs[k].clause == env->clauses[i].clause;
		if (has)
			continue;
		p->waiting[n].clause = env->clauses[i].clause;
		*x = (struct dt_vm_ecb){.ecb = &p->waiting[n++], .probe = DT_VM_OTHER};
		p->host->necbs++;
		if (dt_vm_plan_ecb(p->host, x, err) < 0)
			return -1;
	}
	return 0;
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

static uint64_t growth(const dt_pe *p)
{
	return p->grows ? GROWTH : GROWTH / 16;
}

static bool make_shared(dt_pe *p)
{
	const struct dt_vm_ecb **errors;
	char path[64], *name;
	size_t n = 0;

	p->shared = dt_pe_alloc(&p->memory, sizeof(*p->shared));
	errors = dt_pe_alloc(&p->memory, p->host->necbs * sizeof(*errors));
	if (!p->shared || !errors || !dt_pe_share(&p->program, &p->memory, p->ecbs_cap) || !dt_pe_sites_make(p) || !dt_pe_clocks_make(p, true))
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
	if (!dt_pe_calls_share(p) || !dt_pe_life_share(p))
		return false;
	p->shared->ecbs = p->program.ecbs;
	share_variables(p);
	if (!dt_pe_compile(p) || p->memory.full)
		return false;
	p->growth = (struct dt_pe_memory){.base = dt_pe_alloc(&p->memory, growth(p)), .size = growth(p)};
	p->room = &p->growth;
	return p->growth.base && dt_pe_slots_make(p);
}

/* Places for all events, in several mappings if need be, and later ones. */
static uint32_t places_max(const dt_pe *p)
{
	uint32_t n = LATER_MAX;

	for (uint32_t i = 0; i < p->host->necbs; i++)
		n += p->host->ecbs[i].ecb->events ? 2 * p->host->ecbs[i].ecb->events->n : 0;
	return n;
}

static uint64_t shared_size(const dt_pe *p)
{
	const dt_vm *vm = &p->host->vm;

	return CONSTANTS + (uint64_t)p->host->necbs * PER_ECB + p->ecbs_cap * sizeof(struct dt_vm_ecb) + p->places.memory->n * 512ull + growth(p) +
	       dt_pe_slots_size(p) + vm->globals.n * 8ull + vm->globals.statics_size + vm->dyn.chunk * vm->dyn.nchunks +
	       vm->dyn.nbuckets * 4ull + 4096;
}

/* The process runs, but for the moments in which it is changed. */
static int open_target(dt_pe *p, long pid, dt_error *err)
{
	const dt_proc *proc = p->env->procs ? dt_procs_find(p->env->procs, pid) : NULL;
	uint64_t tables;

	p->target.pid = pid;
	p->target.hold = proc ? proc->hold : NULL;
	p->target.theirs = p->target.hold != NULL;
	p->created = proc && proc->origin == DT_PROC_CREATED;
	p->room = &p->memory;
	dt_pe_life_person(p);
	p->maps = dt_maps_read(pid, err);
	if (!p->maps)
		return -1;
	tables = dt_pe_unwind_read(p);
	p->files = dt_pe_files_new(pid, p->jail);
	dt_pe_files_see(p->files, p->maps);
	if (!dt_pe_places_init(&p->places, places_max(p)))
		return dt_err(err, errno, NULL);
	if (dt_pe_place_all(p, err) < 0)
		return -1;
	p->keeper = dt_pe_keeper_start(&p->target, err);
	if (!p->keeper || dt_pe_target_enter(&p->target, p->maps, shared_size(p) + tables, err) < 0)
		return -1;
	if (!make_shared(p))
		return refuse(err, "the program is too large");
	return dt_pe_target_stubs(&p->target, err) < 0 || dt_pe_life_stub(p, err) < 0 ? -1 : dt_pe_clocks_stubs(p, err);
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
	dt_pe_compiler_free(p->compiler);
	dt_pe_slots_free(p);
	dt_pe_unwind_free(p);
	dt_pe_files_free(p->files);
	dt_maps_free(p->maps);
	free(p->gate_path);
	dt_pe_places_free(&p->places);
	dt_pe_target_free(&p->target);
	if (p->memory.base)
		munmap(p->memory.base, p->memory.size);
	if (p->wake_fd >= 0)
		close(p->wake_fd);
	if (p->host)
		dt_engine_vm.close((dt_engine *)p->host);
	free(p->waiting);
	free(p->drops);
	free(p->agg_drops);
	free(p);
}

static dt_pe *pe_open(const struct dt_engine_env *env, dt_error *err)
{
	dt_pe *p = dt_xcalloc(1, sizeof(*p));
	long pid = 0;

	p->env = env;
	p->jail = dt_procs_jail(env->procs);
	p->procs = env->procs;
	p->opts = env->opts;
	p->wake_fd = p->clock_fd = -1;
	if (!dt_pe_target_init(&p->target, &p->memory, &p->places)) {
		dt_err(err, errno, NULL);
		pe_close(p);
		return NULL;
	}
	p->host = (dt_vm_engine *)dt_engine_vm.open(env, err);
	if (!p->host || add_waiting(p, err) < 0 || dt_pe_check_probes(p, &pid, err) < 0 || (pid && dt_pe_check_options(p, err) < 0)) {
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

/* Threads that could not be released yet stop when they wake up, and must go on then; or an exec is about to happen. */
static bool is_hurried(dt_pe *p, uint32_t *execs, uint64_t *until)
{
	uint32_t now = __atomic_load_n(&p->shared->execs, __ATOMIC_SEQ_CST);

	if (now != *execs)
		*until = dt_now() + DT_PE_EXEC_NS;
	*execs = now;
	return __atomic_load_n(&p->target.late, __ATOMIC_RELAXED) ||
	       (now != __atomic_load_n(&p->shared->execs_failed, __ATOMIC_SEQ_CST) && dt_now() < *until);
}

static void *wait_for_target(void *arg)
{
	static const struct timespec soon = {.tv_nsec = 2000000}, later = {.tv_nsec = 500000000};
	dt_pe *p = arg;
	uint32_t *word = &p->shared->wake, seen = 0, execs = 0, now;
	uint64_t one = 1, until = 0;

	/* The word is read first: it changes after `stopping` does. */
	while ((now = __atomic_load_n(word, __ATOMIC_SEQ_CST), !__atomic_load_n(&p->stopping, __ATOMIC_SEQ_CST))) {
		bool hurried = is_hurried(p, &execs, &until);

		if ((now != seen || hurried) && write(p->wake_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
			break;
		seen = now;
		syscall(SYS_futex, word, FUTEX_WAIT, now, hurried ? &soon : &later, NULL, 0);
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
	struct timespec until;

	if (!p->waits)
		return;
	__atomic_store_n(&p->stopping, true, __ATOMIC_SEQ_CST);
	do { /* once, unless the target puts an old value into the word */
		__atomic_add_fetch(&p->shared->wake, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &p->shared->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec++;
	} while (pthread_timedjoin_np(p->waiter, NULL, &until) == ETIMEDOUT);
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
	if (p->env->ready)
		p->env->ready(p->env->ready_arg);
	p->shared->live = p->shared->waits = 1;
	if (dt_pe_put(p, err) < 0)
		return -1;
	dt_pe_life_begin(p);
	p->env = NULL;
	p->target.hold = NULL; /* the session releases it */
	p->target.theirs = false;
	start_waiting(p);
	dt_pe_clocks_start(p);
	if (p->remark.text[0])
		*err = p->remark;
	return 0;
}

/* Nothing fires in the target any more. */
static int leave(dt_pe *p, dt_error *err)
{
	int rc;

	if (!p->shared || p->over)
		return 0;
	p->over = true;
	__atomic_store_n(&p->shared->live, 0, __ATOMIC_SEQ_CST);
	dt_pe_gate_end(p);
	stop_waiting(p);
	rc = dt_pe_target_leave(&p->target, err);
	dt_pe_keeper_free(p->keeper);
	p->keeper = NULL;
	take_variables(p);
	dt_pe_specs_take(p);
	return rc;
}

void dt_pe_end(dt_pe *p)
{
	dt_error ignored;

	leave(p, &ignored);
}

static int op_stop(dt_engine *e, dt_error *err)
{
	dt_pe *p = (dt_pe *)e;
	int rc;

	dt_pe_clocks_stop(p);
	dt_pe_life_stop(p);
	rc = leave(p, err);
	if (!p->ended)
		dt_pe_life_end(p);
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
	st->filled = st->filled || __atomic_load_n(&p->shared->filled, __ATOMIC_SEQ_CST);
	st->running = !p->ended;
	return 0;
}

static int op_consume(dt_engine *e, const dt_sink *sink)
{
	dt_pe *p = (dt_pe *)e;

	if (!p->shared)
		return dt_engine_vm.consume((dt_engine *)p->host, sink);
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

	dt_pe_life_look(p);
	if (p->target.late && dt_pe_late(&p->target))
		return false;
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

static int op_extend(dt_engine *e, dt_ecb *ecbs, uint32_t n, dt_error *err)
{
	return dt_pe_extend((dt_pe *)e, ecbs, n, err);
}

static int op_gate(dt_engine *e, const char *path, uint64_t offset, long pid, dt_error *err)
{
	return dt_pe_gate((dt_pe *)e, path, offset, pid, err);
}

static uint64_t op_arrived(const dt_engine *e)
{
	return dt_pe_arrived((dt_pe *)(uintptr_t)e);
}

static long op_comer(const dt_engine *e, uint64_t n)
{
	(void)n;
	return ((const dt_pe *)e)->target.pid;
}

static void op_admit(dt_engine *e, uint64_t n)
{
	(void)n; /* they are one at a time */
	dt_pe_admit((dt_pe *)e);
}

/* There is one process. */
static void op_adopt(dt_engine *e, long pid, long parent)
{
	(void)e, (void)pid, (void)parent;
}

static void op_retire(dt_engine *e, long pid)
{
	(void)e, (void)pid;
}

const struct dt_engine_ops dt_engine_process = {
    .name = "process",
    .open = op_open,
    .go = op_go,
    .stop = op_stop,
    .status = op_status,
    .consume = op_consume,
    .snapshot = op_snapshot,
    .extend = op_extend,
    .gate = op_gate,
    .arrived = op_arrived,
    .comer = op_comer,
    .admit = op_admit,
    .adopt = op_adopt,
    .retire = op_retire,
    .attend = op_attend,
    .wake_fd = op_wake_fd,
    .takes = dt_pe_takes,
    .places = dt_pe_report,
    .enters = true,
    .live = true,
    .close = op_close,
};

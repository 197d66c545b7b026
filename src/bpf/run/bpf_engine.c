/*
 * bpf_engine: the kernel as an engine (src/engine/engine.h).
 *
 *	open	plan, learn, lay out, create maps, load programs
 *	go	BEGIN runs, programs are attached, then all probes may fire
 *	halt	no probe may fire any more, detach, wait for the last firing
 *	stop	END runs
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/run/attaching.h"
#include "bpf/run/direct_map.h"
#include "bpf/run/load.h"
#include "bpf/run/maps.h"
#include "bpf/run/overhead.h"
#include "bpf/run/ring.h"

/* ---- closing ---- */

static void bpf_close(dt_bpf *e)
{
	if (!e)
		return;
	dt_attach_end(e);
	dt_lossless_free(e);
	dt_overhead_free(e);
	dt_attach_functions_free(e);
	for (uint32_t i = 0; i < e->loaded.n; i++) {
		dt_user_table_free(e, i);
		if (e->loaded.v[i].fd >= 0)
			close(e->loaded.v[i].fd);
	}
	dt_rings_free(e);
	dt_tables_free(e);
	dt_names_free(e);
	dt_kmaps_free(e);
	dt_layout_free(&e->at);
	dt_rodata_free(&e->ro);
	dt_plan_free(&e->plan);
	free(e->drops);
	free(e->agg_drops);
	free(e);
}

/* ---- opening ---- */

/* The number of CPUs that the kernel's per-CPU maps have rows for; with a wrong number it would
 * write past our buffers. */
static int count_cpus(uint32_t *ncpus, dt_error *err)
{
	libbpf_print_fn_t print = libbpf_set_print(NULL);
	int n = libbpf_num_possible_cpus();

	libbpf_set_print(print);
	if (n <= 0)
		return dt_err(
		    err, -n, "cannot read /sys/devices/system/cpu/possible, the number of CPUs: %s",
		    dt_strerror(-n));
	*ncpus = (uint32_t)n;
	return 0;
}

/* Are there returns of user functions, or can there be? */
static bool has_returns(const dt_plan *p)
{
	uint32_t kinds = 0;

	for (uint32_t i = 0; i < p->clauses.n; i++)
		kinds |= p->clauses.v[i].kinds | p->clauses.v[i].grow_kinds;
	return kinds & 1u << PK_URETPROBE;
}

/* One stage after the other: plan.h */
static int make(dt_bpf *e, const struct dt_engine_env *env, uint32_t ncpus, dt_error *err)
{
	if (dt_plan_make(&e->plan, env, ncpus, err) < 0)
		return -1;
	e->plan.returns = has_returns(&e->plan) && dt_sites_move(e);
	if (dt_learn(&e->plan, &e->needs, &e->ro, err) < 0 ||
	    dt_layout_make(&e->at, &e->plan, &e->needs, &e->ro, err) < 0)
		return -1;
	e->loads = dt_tr_find_loads(&e->plan);
	if (dt_kmaps_create(e, err) < 0 || dt_load_all(e, err) < 0)
		return -1;
	dt_direct_map_find(e);
	return dt_rings_map(e, err);
}

static dt_bpf *bpf_open(const struct dt_engine_env *env, dt_error *err)
{
	dt_bpf *e;
	uint32_t ncpus = 0;

	dt_allow_descriptors(); /* a command of -c was started before and keeps its limit */
	if (count_cpus(&ncpus, err) < 0)
		return NULL;
	e = dt_xcalloc(1, sizeof(*e));
	e->gate = -1;
	e->procs = env->procs;
	e->progress = env->progress;
	e->ready = env->ready;
	e->ready_arg = env->ready_arg;
	e->drops = dt_xcalloc(ncpus, sizeof(*e->drops));
	e->agg_drops = dt_xcalloc(ncpus, sizeof(*e->agg_drops));
	dt_tr_maps_init(&e->maps);
	dt_rodata_init(&e->ro);
	if (make(e, env, ncpus, err) < 0) {
		bpf_close(e);
		return NULL;
	}
	return e;
}

/* ---- running ---- */

/* Repeated at every status check: the clock may be set, or the machine suspended. */
static void set_wall_clock(dt_bpf *e)
{
	uint64_t kernel = dt_now_kernel();

	__atomic_store_n(dt_control(e, CTL_WALL), dt_now_wall() - kernel, __ATOMIC_RELAXED);
}

static int bpf_go(dt_bpf *e, dt_error *err)
{
	int cpu = sched_getcpu();

	if (e->state != BPF_NEW)
		return dt_err(err, EDT_ACTIVE, NULL);
	e->begin_cpu = cpu > 0 && (uint32_t)cpu < e->plan.ncpus ? (uint32_t)cpu : 0;
	set_wall_clock(e);
	e->state = BPF_RUNNING;
	dt_tables_preload(e);
	if (dt_attach_fire(e, PK_BEGIN, err) < 0)
		return -1;
	if (__atomic_load_n(dt_control(e, CTL_EXITING), __ATOMIC_SEQ_CST))
		return 0; /* exit() in BEGIN: nothing else will ever fire */
	if (dt_overhead_begin(e, err) < 0 || dt_attach_all(e, err) < 0 || dt_lossless_begin(e, err) < 0)
		return -1;
	if (e->ready)
		e->ready(e->ready_arg);
	__atomic_fetch_or(dt_control(e, CTL_WORD), CTL_ACTIVE, __ATOMIC_SEQ_CST);
	return 0;
}

static void bpf_halt(dt_bpf *e)
{
	if (e->state != BPF_RUNNING)
		return;
	__atomic_fetch_and(dt_control(e, CTL_WORD), ~(uint64_t)CTL_ACTIVE, __ATOMIC_SEQ_CST);
	dt_gate_admit(e, UINT64_MAX);
	dt_attach_end(e);
	dt_ring_quiesce(e, DT_RING_LAST_PATIENCE);
	dt_lossless_end(e);
	e->state = BPF_HALTED;
}

static int bpf_stop(dt_bpf *e, dt_error *err)
{
	int rc;

	bpf_halt(e);
	if (e->state != BPF_HALTED)
		return 0;
	rc = dt_attach_fire(e, PK_END, err);
	e->state = BPF_STOPPED;
	return rc;
}

static uint64_t counter(const dt_bpf *e, uint32_t cpu, uint32_t which)
{
	return __atomic_load_n(dt_cpu_word(e, cpu, which), __ATOMIC_RELAXED);
}

/* Firings that the kernel suppressed because the same program was already running on that CPU. It
 * does not say on which CPU. */
static uint64_t kernel_misses(const dt_bpf *e)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < e->loaded.n; i++) {
		struct bpf_prog_info info = {0};
		uint32_t len = sizeof(info);

		if (!dt_kind_is_tracer(e->plan.progs.v[i].kind) && e->loaded.v[i].fd >= 0 &&
		    bpf_obj_get_info_by_fd(e->loaded.v[i].fd, &info, &len) == 0)
			n += info.recursion_misses;
	}
	return n + dt_attach_function_misses(e);
}

static int bpf_status(dt_bpf *e, dt_status *st)
{
	uint64_t exiting;

	set_wall_clock(e);
	dt_overhead_check(e);
	*st = (dt_status){.drops = e->drops,
			  .agg_drops = e->agg_drops,
			  .ncpus = e->plan.ncpus,
			  .stops = dt_lossless_stops(e),
			  .shedding = dt_overhead_state(e),
			  .spec_drops = dt_kept_drops(e)};
	for (uint32_t i = 0; i < e->plan.ncpus; i++) {
		e->drops[i] = counter(e, i, CPU_DROPS);
		e->agg_drops[i] = counter(e, i, CPU_AGG_DROPS);
		st->dyn_drops += counter(e, i, CPU_DYN_DROPS);
		st->spec_unavail += counter(e, i, CPU_SPEC_UNAVAIL);
		st->dbl_errors += counter(e, i, CPU_DBL_ERRORS);
		st->absent += counter(e, i, CPU_ABSENT);
		st->shed_printing += counter(e, i, CPU_SHED_PRINTING);
		st->shed_sampled += counter(e, i, CPU_SHED_SAMPLED);
	}
	e->drops[e->begin_cpu] += kernel_misses(e);
	exiting = __atomic_load_n(dt_control(e, CTL_EXITING), __ATOMIC_ACQUIRE);
	st->exiting = exiting != 0;
	st->exit_status = (int)(exiting >> 32);
	if (!st->exiting && st->shedding && st->shedding->ended) {
		st->exiting = true;
		st->exit_status = 1;
	}
	st->filled = *dt_control(e, CTL_FILLED) != 0;
	st->running = e->state == BPF_RUNNING || e->state == BPF_HALTED;
	return 0;
}

static int bpf_wake_fd(const dt_bpf *e)
{
	return e->maps.wake;
}

/* ---- the engine interface: other modules see a dt_bpf as a dt_engine ---- */

static dt_engine *op_open(const struct dt_engine_env *env, dt_error *err)
{
	return (dt_engine *)bpf_open(env, err);
}

static int op_go(dt_engine *e, dt_error *err)
{
	return bpf_go((dt_bpf *)e, err);
}

static void op_halt(dt_engine *e)
{
	bpf_halt((dt_bpf *)e);
}

static int op_stop(dt_engine *e, dt_error *err)
{
	return bpf_stop((dt_bpf *)e, err);
}

static int op_status(dt_engine *e, dt_status *st)
{
	return bpf_status((dt_bpf *)e, st);
}

static bool op_attend(dt_engine *e)
{
	return dt_ring_attend((dt_bpf *)e);
}

static int op_consume(dt_engine *e, const dt_sink *sink)
{
	return dt_ring_consume((dt_bpf *)e, sink);
}

static int op_snapshot(dt_engine *e, const dt_sink *sink, dt_error *err)
{
	return dt_snapshot((dt_bpf *)e, sink, err);
}

static int op_extend(dt_engine *e, dt_ecb *ecbs, uint32_t n, dt_error *err)
{
	return dt_extend((dt_bpf *)e, ecbs, n, err);
}

static int op_gate(dt_engine *e, const char *path, uint64_t offset, long pid, dt_error *err)
{
	return dt_gate((dt_bpf *)e, path, offset, pid, err);
}

static uint64_t op_arrived(const dt_engine *e)
{
	return dt_gate_arrived((const dt_bpf *)e);
}

static long op_comer(const dt_engine *e, uint64_t n)
{
	return dt_gate_comer((const dt_bpf *)e, n);
}

static void op_admit(dt_engine *e, uint64_t n)
{
	dt_gate_admit((dt_bpf *)e, n);
}

static void op_adopt(dt_engine *e, long pid, long parent)
{
	dt_family_adopt((dt_bpf *)e, pid, parent);
}

static void op_retire(dt_engine *e, long pid)
{
	dt_extend_retire((dt_bpf *)e, pid);
}

static bool op_is_eager(const dt_engine *e, bool *awake)
{
	return dt_ring_is_eager((const dt_bpf *)e, awake);
}

static int op_wake_fd(const dt_engine *e)
{
	return bpf_wake_fd((const dt_bpf *)e);
}

static void op_close(dt_engine *e)
{
	bpf_close((dt_bpf *)e);
}

const struct dt_engine_ops dt_engine_bpf = {
    .name = "bpf",
    .open = op_open,
    .go = op_go,
    .halt = op_halt,
    .stop = op_stop,
    .status = op_status,
    .attend = op_attend,
    .consume = op_consume,
    .snapshot = op_snapshot,
    .extend = op_extend,
    .gate = op_gate,
    .arrived = op_arrived,
    .comer = op_comer,
    .admit = op_admit,
    .adopt = op_adopt,
    .retire = op_retire,
    .is_eager = op_is_eager,
    .wake_fd = op_wake_fd,
    .live = true,
    .close = op_close,
};

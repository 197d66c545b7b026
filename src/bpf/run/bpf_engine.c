/*
 * bpf_engine: the kernel as an engine (src/engine/engine.h).
 *
 *	open	plan, learn, lay out, create maps, load programs
 *	go	BEGIN runs, programs are attached, then all probes may fire
 *	stop	no probe may fire any more, detach, wait for the last firing, END runs
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "arch/arch.h"
#include "arch/syscalls.h"
#include "bpf/image.h"

/* ---- closing ---- */

static void bpf_close(dt_engine *e)
{
	if (!e)
		return;
	dt_attach_end(e);
	for (uint32_t i = 0; i < e->progs.n; i++) {
		dt_user_table_free(&e->progs.v[i]);
		if (e->progs.v[i].fd >= 0)
			close(e->progs.v[i].fd);
	}
	dt_rings_free(e);
	dt_tables_free(e);
	if (e->control)
		munmap(e->control, 4096);
	if (e->cpus)
		munmap(e->cpus, dt_align_up(e->cpus_size, 4096));
	for (uint32_t i = 0; i < e->fds.n; i++)
		close(e->fds.v[i]);
	dt_vec_free(&e->fds);
	dt_vec_free(&e->progs);
	dt_vec_free(&e->probes);
	dt_vec_free(&e->prologues);
	for (uint32_t i = 0; i < e->clauses.n; i++)
		free(e->clauses.v[i].ecbs);
	dt_vec_free(&e->clauses);
	dt_names_free(e);
	dt_map_free(e->seen);
	dt_vec_free(&e->aggs);
	dt_buf_free(&e->rodata);
	dt_map_free(e->string_pool);
	dt_arena_free(e->arena);
	free(e->drops);
	free(e->agg_drops);
	free(e);
}

/* ---- opening ---- */

/* In a pid namespace of our own, pids are those that ps shows there. */
static void find_pid_namespace(dt_engine *e)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) < 0 || st.st_ino == DT_PROC_PID_INIT_INO)
		return;
	e->pidns_ino = st.st_ino;
	e->pidns_dev = (uint64_t)major(st.st_dev) << 20 | minor(st.st_dev);
}

/* How many CPUs the kernel's per-CPU maps have rows for; a wrong number would let it write beyond ours. */
static int count_cpus(dt_engine *e, dt_error *err)
{
	libbpf_print_fn_t print = libbpf_set_print(NULL);
	int n = libbpf_num_possible_cpus();

	libbpf_set_print(print);
	if (n <= 0)
		return dt_err(
		    err, -n, "cannot read /sys/devices/system/cpu/possible, the number of CPUs: %s",
		    dt_strerror(-n));
	e->ncpus = (uint32_t)n;
	return 0;
}

static void look_around(dt_engine *e)
{
	uint32_t third = dt_arch_host()->entry.number_bit;

	e->has_btf = access("/sys/kernel/btf/vmlinux", R_OK) == 0;
	e->has_compat = dt_has_compat_syscalls();
	e->has_third_abi = third && syscall((long)(third | SYS_getpid)) > 0;
	find_pid_namespace(e);
}

/* The first round: make all code once, only to learn what it needs. */
static int learn(dt_engine *e, dt_error *err)
{
	int rc = 0;

	e->learning = true;
	for (uint32_t i = 0; i < e->progs.n && rc == 0; i++) {
		dt_code c = {0};

		rc = dt_tr_program(e, &e->progs.v[i], &c, err);
		if (rc == 0 && dt_plan_split(e, i, &c))
			i--; /* once more, with what is left */
		dt_code_free(&c);
	}
	e->learning = false;
	return rc;
}

static dt_engine *bpf_open(const struct dt_engine_env *env, dt_error *err)
{
	dt_engine *e = dt_xcalloc(1, sizeof(*e));
	uint64_t nspec = dt_opt(env->opts, DT_O_NSPEC);

	e->opts = env->opts;
	e->types = env->types;
	e->kfuncs = env->kfuncs;
	e->procs = env->procs;
	e->arena = dt_arena_new();
	e->string_pool = dt_map_new();
	e->strsize = dt_opt(env->opts, DT_O_STRSIZE);
	e->strsize = e->strsize ? e->strsize : 1;
	e->policy = (enum dt_opt_bufpolicy)dt_opt(env->opts, DT_O_BUFPOLICY);
	e->nspecs = (uint32_t)nspec;
	e->fd_control = e->fd_cpus = e->fd_slots = e->fd_rodata = e->fd_globals = e->fd_threads =
	    -1;
	e->names = (struct dt_names){.fd_rows = -1, .fd_text = -1, .fd_epids = -1};
	e->fd_gate = e->fd_family = -1;
	e->fd_rings = e->fd_tails = e->fd_aggs = e->fd_specs = e->fd_btf = e->fd_wake = -1;
	dt_attach_allow_descriptors(); /* a command of -c was started before and keeps its limit */
	if (count_cpus(e, err) < 0) {
		bpf_close(e);
		return NULL;
	}
	look_around(e);
	e->drops = dt_xcalloc(e->ncpus, sizeof(*e->drops));
	e->agg_drops = dt_xcalloc(e->ncpus, sizeof(*e->agg_drops));
	dt_layout_string(e, "");
	e->at.nslots = 4; /* while learning */
	e->has_cookies = dt_attach_has_cookies();
	e->has_storage = dt_thread_storage_is_found();
	if (dt_plan_make(e, env, err) < 0 || learn(e, err) < 0 || dt_layout_make(e, err) < 0 ||
	    (dt_tr_find_cast(e), e->trusts = e->has_btf, dt_kmaps_create(e, err)) < 0 ||
	    dt_load_all(e, err) < 0 || dt_rings_map(e, err) < 0) {
		bpf_close(e);
		return NULL;
	}
	return e;
}

/* ---- running ---- */

static uint64_t *control(const dt_engine *e, uint32_t field)
{
	return (uint64_t *)(void *)(e->control + field);
}

/* Once more every time we are asked for our status: somebody may set the clock, or put the machine to sleep. */
static void set_wall_clock(dt_engine *e)
{
	uint64_t kernel = dt_now_kernel();

	__atomic_store_n(control(e, CTL_WALL), dt_now_wall() - kernel, __ATOMIC_RELAXED);
}

static int bpf_go(dt_engine *e, dt_error *err)
{
	int cpu = sched_getcpu();

	if (e->state != BPF_NEW)
		return dt_err(err, EDT_ACTIVE, NULL);
	e->begin_cpu = cpu > 0 && (uint32_t)cpu < e->ncpus ? (uint32_t)cpu : 0;
	set_wall_clock(e);
	e->state = BPF_RUNNING;
	dt_tables_preload(e);
	if (dt_attach_fire(e, PK_BEGIN, err) < 0)
		return -1;
	if (__atomic_load_n(control(e, CTL_EXITING), __ATOMIC_SEQ_CST))
		return 0; /* exit() in BEGIN: nothing else will ever fire */
	if (dt_attach_all(e, err) < 0)
		return -1;
	__atomic_fetch_or(control(e, CTL_WORD), CTL_ACTIVE, __ATOMIC_SEQ_CST);
	return 0;
}

static int bpf_stop(dt_engine *e, dt_error *err)
{
	int rc;

	if (e->state != BPF_RUNNING)
		return 0;
	__atomic_fetch_and(control(e, CTL_WORD), ~(uint64_t)CTL_ACTIVE, __ATOMIC_SEQ_CST);
	dt_gate_admit(e, UINT64_MAX);
	dt_attach_end(e);
	dt_ring_quiesce(e, DT_BPF_LAST_PATIENCE);
	rc = dt_attach_fire(e, PK_END, err);
	e->state = BPF_STOPPED;
	return rc;
}

static uint64_t counter(const dt_engine *e, uint32_t cpu, uint32_t which)
{
	return __atomic_load_n((uint64_t *)(void *)(e->cpus + (uint64_t)cpu * CPU_SIZE + which),
			       __ATOMIC_RELAXED);
}

/* Firings the kernel did not let happen because the same program was running on that CPU already.
 * It does not say on which CPU. */
static uint64_t kernel_misses(const dt_engine *e)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < e->progs.n; i++) {
		struct bpf_prog_info info = {0};
		uint32_t len = sizeof(info);

		if (e->progs.v[i].kind > PK_ERROR && e->progs.v[i].fd >= 0 &&
		    bpf_obj_get_info_by_fd(e->progs.v[i].fd, &info, &len) == 0)
			n += info.recursion_misses;
	}
	return n + dt_attach_function_misses(e);
}

static int bpf_status(dt_engine *e, dt_status *st)
{
	set_wall_clock(e);
	*st = (dt_status){.drops = e->drops,
			  .agg_drops = e->agg_drops,
			  .ncpus = e->ncpus,
			  .spec_drops = e->spec_drops};
	for (uint32_t i = 0; i < e->ncpus; i++) {
		e->drops[i] = counter(e, i, CPU_DROPS);
		e->agg_drops[i] = counter(e, i, CPU_AGG_DROPS);
		st->dyn_drops += counter(e, i, CPU_DYN_DROPS);
		st->spec_unavail += counter(e, i, CPU_SPEC_UNAVAIL);
		st->dbl_errors += counter(e, i, CPU_DBL_ERRORS);
	}
	e->drops[e->begin_cpu] += kernel_misses(e);
	st->exiting = __atomic_load_n(control(e, CTL_EXITING), __ATOMIC_ACQUIRE) != 0;
	st->exit_status = (int)*control(e, CTL_STATUS);
	st->filled = *control(e, CTL_FILLED) != 0;
	st->running = e->state == BPF_RUNNING;
	return 0;
}

static int bpf_wake_fd(const dt_engine *e)
{
	return e->fd_wake;
}

const struct dt_engine_ops dt_engine_bpf = {
    .name = "bpf",
    .open = bpf_open,
    .go = bpf_go,
    .stop = bpf_stop,
    .status = bpf_status,
    .attend = dt_ring_attend,
    .consume = dt_ring_consume,
    .snapshot = dt_snapshot,
    .extend = dt_extend,
    .gate = dt_gate,
    .arrived = dt_gate_arrived,
    .comer = dt_gate_comer,
    .admit = dt_gate_admit,
    .adopt = dt_family_adopt,
    .retire = dt_extend_retire,
    .wake_fd = bpf_wake_fd,
    .live = true,
    .close = bpf_close,
};

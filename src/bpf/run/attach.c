/*
 * attach: attaches programs to probes.
 *
 * System calls are two raw tracepoints, however many a script names; a raw tracepoint is released
 * at once. profile and tick are perf events on the CPU clock, one per probe and CPU (tick: one),
 * which all run the same program; the cookie says which probe it is. BEGIN and END are run by this
 * process.
 */
#include <stdio.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/run/attaching.h"
#include "bpf/run/kmap.h"
#include "bpf/run/load.h"
#include "bpf/run/maps.h"
#include "bpf/run/overhead.h"
#include "kernel/links.h"

struct dt_links {
	DT_VEC(int) fds;
};

void dt_attach_keep(dt_bpf *e, int fd)
{
	if (!e->links)
		e->links = dt_xcalloc(1, sizeof(*e->links));
	*dt_vec_add(&e->links->fds, NULL) = fd;
}

static int attach_raw(dt_bpf *e, uint32_t prog, const char *event, dt_error *err)
{
	int fd = bpf_raw_tracepoint_open(event, e->loaded.v[prog].fd);

	if (fd < 0 && errno == ENOENT)
		return dt_err(err, ENOENT,
			      "this kernel has no tracepoint raw_syscalls:%s "
			      "(CONFIG_FTRACE_SYSCALLS)",
			      event);
	if (fd < 0)
		return dt_load_error(err, "attach to system calls in");
	dt_attach_keep(e, fd);
	return 0;
}

/* ---- tracepoints ---- */

static int attach_tracepoints(dt_bpf *e, uint32_t prog, dt_error *err)
{
	const struct dt_plan_prog *p = &e->plan.progs.v[prog];
	const struct dt_loaded *l = &e->loaded.v[prog];

	for (uint32_t i = 0; i < e->plan.probes.n; i++) {
		const struct dt_plan_probe *x = &e->plan.probes.v[i];
		int fd;

		if (!dt_plan_serves(&e->plan, p, i) || !dt_plan_is_on(&e->plan, p, i))
			continue;
		fd = dt_link_tracepoint(p->group.task_arg || l->typed ? NULL : x->at.event, l->fd,
					p->only == UINT32_MAX ? x->event : 0);
		if (fd < 0 && (errno == ENOENT || errno == EINVAL || errno == EACCES))
			return dt_err(err, errno,
				      "tracepoint %s cannot be traced on this kernel: %s",
				      x->at.event, dt_strerror(errno));
		if (fd < 0)
			return dt_load_error(err, "attach to tracepoints in");
		dt_attach_keep(e, fd);
		dt_progress_add(e->progress, 1);
	}
	return 0;
}

/* ---- time ---- */

static int attach_clock(dt_bpf *e, int prog, const struct dt_plan_probe *x, int cpu, dt_error *err)
{
	struct perf_event_attr a = {.type = PERF_TYPE_SOFTWARE,
				    .size = sizeof(a),
				    .config = PERF_COUNT_SW_CPU_CLOCK,
				    .sample_period = x->at.number};
	bool slows = e->overhead && !x->at.one && !e->needs.is.late; /* lateness is about the rate that was asked for */
	int event = -1, link = dt_link_perf(prog, &a, -1, cpu, x->event, slows ? &event : NULL);

	if (event >= 0)
		dt_overhead_keep(e, event, x->at.number);
	if (link < 0 && errno == ENODEV)
		return 0; /* the CPU is offline */
	if (link < 0 && errno == EACCES)
		return dt_err(err, EACCES,
			      "cannot open a clock event: this needs root, or CAP_PERFMON and a "
			      "lower /proc/sys/kernel/perf_event_paranoid");
	if (link < 0)
		return dt_load_error(err, "open a clock event in");
	dt_attach_keep(e, link);
	return 0;
}

/*
 * The CPU of tick probes: the first one that is online. Any would do, except for a kernel behaviour
 * seen on 6.18: the software clock of an idle CPU without a tick is not sampled (plain perf shows
 * the same), while the first CPU, which keeps the time, always is.
 */
static uint32_t ticking_cpu(void)
{
	FILE *f = fopen("/sys/devices/system/cpu/online", "re");
	unsigned cpu = 0;

	if (f) {
		if (fscanf(f, "%u", &cpu) != 1)
			cpu = 0;
		fclose(f);
	}
	return cpu;
}

static int attach_profile(dt_bpf *e, uint32_t prog, dt_error *err)
{
	const struct dt_plan_prog *p = &e->plan.progs.v[prog];
	bool one = e->plan.opts->is_set[DT_O_CPU];
	uint32_t home = one ? (uint32_t)dt_opt(e->plan.opts, DT_O_CPU) : ticking_cpu();

	for (uint32_t i = 0; i < e->plan.probes.n; i++) {
		const struct dt_plan_probe *x = &e->plan.probes.v[i];

		if (x->kind != PK_PROFILE || !dt_plan_is_on(&e->plan, p, i))
			continue;
		for (uint32_t cpu = 0; cpu < e->plan.ncpus; cpu++)
			if ((!(x->at.one || one) || cpu == home) &&
			    attach_clock(e, e->loaded.v[prog].fd, x, (int)cpu, err) < 0)
				return -1;
	}
	return 0;
}

/* ---- counters ---- */

static int attach_counter(dt_bpf *e, int prog, const struct dt_plan_probe *x, int cpu,
			  dt_error *err)
{
	struct perf_event_attr a = {.type = x->at.perf_type,
				    .size = sizeof(a),
				    .config = x->at.number,
				    .sample_period = x->at.period,
				    .exclude_user = x->at.exclude_user,
				    .exclude_kernel = x->at.exclude_kernel};
	int link = dt_link_perf(prog, &a, -1, cpu, x->event, NULL);

	if (link < 0 && errno == ENODEV)
		return 0; /* the CPU is offline */
	if (link < 0)
		return errno == EPERM || errno == EACCES
			   ? dt_load_error(err, "count events in")
			   : dt_err(err, errno, "cannot count %s on CPU %d: %s", x->probe->name,
				    cpu, dt_strerror(errno));
	dt_attach_keep(e, link);
	return 0;
}

static int attach_counters(dt_bpf *e, uint32_t prog, dt_error *err)
{
	const struct dt_plan_prog *p = &e->plan.progs.v[prog];
	bool one = e->plan.opts->is_set[DT_O_CPU];

	for (uint32_t i = 0; i < e->plan.probes.n; i++) {
		const struct dt_plan_probe *x = &e->plan.probes.v[i];

		if (!dt_plan_serves(&e->plan, p, i) || !dt_plan_is_on(&e->plan, p, i))
			continue;
		for (uint32_t cpu = 0; cpu < e->plan.ncpus; cpu++)
			if ((!one || cpu == dt_opt(e->plan.opts, DT_O_CPU)) &&
			    attach_counter(e, e->loaded.v[prog].fd, x, (int)cpu, err) < 0)
				return -1;
	}
	return 0;
}

/* ---- all together ---- */

/* A small program that has been loaded (fd < 0: it has not, see *err) at a tracepoint. */
static int attach_small(dt_bpf *e, const char *event, int fd, dt_error *err)
{
	int link;

	if (fd < 0)
		return -1;
	link = bpf_raw_tracepoint_open(event, fd);
	if (link < 0)
		return dt_load_error(err, "attach to the scheduler of");
	dt_attach_keep(e, link);
	return 0;
}

int dt_attach_small(dt_bpf *e, const char *event, const struct dt_small_program *p,
		    int (*code)(dt_tr *t), dt_error *err)
{
	return attach_small(e, event, dt_small_load(e, p, code, err), err);
}

/* What vtimestamp (vtime.c) and thread-local variables (thread.c) need. */
static int attach_helpers(dt_bpf *e, dt_error *err)
{
	static const struct dt_small_program vtime = {.name = "dtrace_vtime",
						      .type = BPF_PROG_TYPE_RAW_TRACEPOINT,
						      .doing =
							  "load a program for vtimestamp into"},
					     threads = {.name = "dtrace_threads",
							.type = BPF_PROG_TYPE_RAW_TRACEPOINT,
							.doing = "load a program for "
								 "thread-local variables into"};

	if (e->needs.is.task_storage) {
		int fd = dt_small_load(e, &threads, dt_thread_free_code, err);

		if (attach_small(e, "sched_process_free", fd, err) < 0 ||
		    attach_small(e, "task_newtask", fd, err) < 0)
			return -1;
	}
	if (e->needs.is.vtime &&
	    dt_attach_small(e, "sched_switch", &vtime, dt_tr_vtime_switch, err) < 0)
		return -1;
	return 0;
}

static int attach_program(dt_bpf *e, uint32_t prog, dt_error *err)
{
	enum dt_probe_kind kind = e->plan.progs.v[prog].kind;

	switch (kind) {
	case PK_NONE:
	case PK_BEGIN:
	case PK_END:
	case PK_ERROR:
	case PK_MAX: break;
	case PK_ENTRY:
	case PK_RETURN: return attach_raw(e, prog, dt_kind_of(kind)->tracepoint, err);
	case PK_PROFILE: return attach_profile(e, prog, err);
	case PK_TRACEPOINT: return attach_tracepoints(e, prog, err);
	case PK_FUNC_ENTRY:
	case PK_FUNC_RETURN:
	case PK_INSTRUCTION: return dt_attach_functions(e, prog, err);
	case PK_PERF: return attach_counters(e, prog, err);
	case PK_UPROBE:
	case PK_URETPROBE: return dt_attach_user(e, prog, 0, err);
	}
	return 0;
}

int dt_attach_all(dt_bpf *e, dt_error *err)
{
	struct dt_step outer = dt_progress_begin(e->progress, e->plan.probes.n, "attaching");
	bool off = false;

	if (dt_family_attach(e, err) < 0)
		return -1;
	for (int k = 0; k < PK_MAX; k++)
		off = off ||
		      (e->plan.nevents[k] && dt_kind_of((enum dt_probe_kind)k)->interrupts_off);
	if (off)
		dt_kmaps_fill_pools(e);
	if (attach_helpers(e, err) < 0)
		return -1;
	for (uint32_t i = 0; i < e->plan.progs.n; i++) {
		uint32_t prog = dt_plan_nth_to_attach(&e->plan, i);

		if (!e->plan.progs.v[prog].lazy && !dt_plan_continues(&e->plan, prog) &&
		    attach_program(e, prog, err) < 0)
			return -1;
	}
	dt_progress_end(e->progress, &outer);
	return 0;
}

/* ---- releasing ---- */

struct closer {
	const int *fds;
	uint32_t n, first, step;
};

static void *close_some(void *arg)
{
	struct closer *c = arg;

	for (uint32_t i = c->first; i < c->n; i += c->step)
		close(c->fds[i]);
	return NULL;
}

/* Closing a perf event may wait for RCU, tens of milliseconds each: close many in parallel. */
#define CLOSERS 64

void dt_attach_end(dt_bpf *e)
{
	struct closer c[CLOSERS];
	pthread_t threads[CLOSERS];
	bool started[CLOSERS] = {0};
	uint32_t step, n;

	dt_extend_end(e);
	dt_attach_user_end(e);
	dt_attach_functions_end(e);
	if (!e->links)
		return;
	n = e->links->fds.n;
	step = n < 4 ? 1 : n < CLOSERS ? n : CLOSERS;
	for (uint32_t i = 0; i < step; i++) {
		c[i] = (struct closer){e->links->fds.v, n, i, step};
		if (i + 1 < step)
			started[i] = pthread_create(&threads[i], NULL, close_some, &c[i]) == 0;
		if (!started[i])
			close_some(&c[i]);
	}
	for (uint32_t i = 0; i < step; i++)
		if (started[i])
			pthread_join(threads[i], NULL);
	dt_vec_free(&e->links->fds);
	free(e->links);
	e->links = NULL;
}

/* ---- BEGIN and END ---- */

/*
 * Both run on the CPU the tracer started on. Asking the kernel to run them on a CPU does not work:
 * if it is another one, the program runs there in an interrupt, in the context of an arbitrary
 * process. So this thread moves there.
 */
int dt_attach_fire(dt_bpf *e, enum dt_probe_kind kind, dt_error *err)
{
	uint64_t args[2] = {0};
	size_t size = CPU_ALLOC_SIZE(e->plan.ncpus);
	cpu_set_t *before = CPU_ALLOC(e->plan.ncpus), *one = CPU_ALLOC(e->plan.ncpus);
	bool moved = false;
	int rc = 0;

	if (before && one && sched_getaffinity(0, size, before) == 0) {
		CPU_ZERO_S(size, one);
		CPU_SET_S(e->begin_cpu, size, one);
		moved = sched_setaffinity(0, size, one) == 0;
	}
	for (uint32_t i = 0; i < e->plan.progs.n && rc == 0; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = args, .ctx_size_in = sizeof(args));

		if (e->plan.progs.v[i].kind != kind || dt_plan_continues(&e->plan, i))
			continue;
		if (kind == PK_BEGIN &&
		    __atomic_load_n(dt_control(e, CTL_EXITING), __ATOMIC_SEQ_CST))
			break;
		if (bpf_prog_test_run_opts(e->loaded.v[i].fd, &o) < 0)
			rc = dt_err(err, errno, "cannot run %s in the kernel: %s",
				    dt_kind_of(kind)->name, dt_strerror(errno));
	}
	if (moved)
		sched_setaffinity(0, size, before);
	CPU_FREE(before);
	CPU_FREE(one);
	return rc;
}

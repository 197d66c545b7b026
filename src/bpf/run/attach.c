/*
 * attach: programs to probes.
 *
 * System calls are two raw tracepoints, whatever number of them a script names; a raw tracepoint
 * lets go at once. profile and tick are perf events on the CPU clock, one per probe and CPU (tick:
 * one), which all run the same program; the cookie says which probe it is. BEGIN and END are run by
 * us.
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

#include "bpf/image.h"

void dt_attach_keep(dt_engine *e, int fd)
{
	*dt_vec_add(&e->links, NULL) = fd;
}

static int attach_raw(dt_engine *e, const struct dt_plan_prog *p, const char *event, dt_error *err)
{
	int fd = bpf_raw_tracepoint_open(event, p->fd);

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

bool dt_plan_is_on(const dt_engine *e, const struct dt_plan_prog *p, uint32_t probe)
{
	for (uint32_t i = 0; i < p->nclauses; i++)
		if (e->clauses.v[p->clauses[i]].ecbs[probe])
			return true;
	return false;
}

static int raw_tracepoint_open(const char *name, int prog, uint64_t cookie)
{
	struct dt_raw_tracepoint_attr a = {
	    .name = (uint64_t)(uintptr_t)name, .prog_fd = (uint32_t)prog, .cookie = cookie};

	return (int)syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &a, sizeof(a));
}

/* An old kernel dislikes the cookie, a new one the missing program. */
bool dt_attach_has_cookies(void)
{
	return raw_tracepoint_open("", -1, 1) < 0 && errno == EBADF;
}

static int attach_tracepoints(dt_engine *e, const struct dt_plan_prog *p, dt_error *err)
{
	for (uint32_t i = 0; i < e->probes.n; i++) {
		const struct dt_plan_probe *x = &e->probes.v[i];
		int fd;

		if (!dt_plan_serves(e, p, i) || !dt_plan_is_on(e, p, i))
			continue;
		fd = raw_tracepoint_open(p->task_arg || p->typed ? NULL : x->at.event, p->fd,
					 p->only == UINT32_MAX ? x->event : 0);
		if (fd < 0 && (errno == ENOENT || errno == EINVAL || errno == EACCES))
			return dt_err(err, errno,
				      "tracepoint %s cannot be traced on this kernel: %s",
				      x->at.event, dt_strerror(errno));
		if (fd < 0)
			return dt_load_error(err, "attach to tracepoints in");
		dt_attach_keep(e, fd);
	}
	return 0;
}

/* ---- time ---- */

int dt_attach_event(int prog, struct perf_event_attr *a, int pid, int cpu, uint64_t cookie)
{
	LIBBPF_OPTS(bpf_link_create_opts, o, .perf_event.bpf_cookie = cookie);
	int link, error,
	    fd = (int)syscall(SYS_perf_event_open, a, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -1;
	link = bpf_link_create(prog, fd, BPF_PERF_EVENT, &o);
	error = errno;
	close(fd); /* the link has it */
	errno = error;
	return link;
}

static int attach_clock(dt_engine *e, const struct dt_plan_prog *p, const struct dt_plan_probe *x,
			int cpu, dt_error *err)
{
	struct perf_event_attr a = {.type = PERF_TYPE_SOFTWARE,
				    .size = sizeof(a),
				    .config = PERF_COUNT_SW_CPU_CLOCK,
				    .sample_period = x->at.number};
	int link = dt_attach_event(p->fd, &a, -1, cpu, x->event);

	if (link < 0 && errno == ENODEV)
		return 0; /* the CPU is off */
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
 * The CPU that ticks: the first one that is on. Any would do, but for a kernel behaviour seen on
 * 6.18: the software clock of a CPU that idles without a tick of its own is not sampled (plain perf
 * shows the same), while the first CPU, which keeps the time, always is.
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

static int attach_profile(dt_engine *e, const struct dt_plan_prog *p, dt_error *err)
{
	bool one = e->opts->is_set[DT_O_CPU];
	uint32_t home = one ? (uint32_t)dt_opt(e->opts, DT_O_CPU) : ticking_cpu();

	for (uint32_t i = 0; i < e->probes.n; i++) {
		const struct dt_plan_probe *x = &e->probes.v[i];

		if (x->kind != PK_PROFILE || !dt_plan_is_on(e, p, i))
			continue;
		for (uint32_t cpu = 0; cpu < e->ncpus; cpu++)
			if ((!(x->at.one || one) || cpu == home) &&
			    attach_clock(e, p, x, (int)cpu, err) < 0)
				return -1;
	}
	return 0;
}

int dt_attach_all(dt_engine *e, dt_error *err)
{
	if (dt_family_attach(e, err) < 0)
		return -1;
	if (e->nevents[PK_PROFILE] || e->nevents[PK_TRACEPOINT] || e->nevents[PK_PERF])
		dt_kmaps_fill_pools(e); /* interrupts may be off there */
	if (e->need.task_storage && dt_thread_attach(e, err) < 0)
		return -1;
	if (e->need.vtime) {
		int fd = bpf_raw_tracepoint_open("sched_switch", e->fd_vtime);

		if (fd < 0)
			return dt_load_error(err, "attach to the scheduler of");
		dt_attach_keep(e, fd);
	}
	for (uint32_t i = 0; i < e->progs.n; i++) {
		struct dt_plan_prog *p = dt_plan_nth_to_attach(e, i);
		int rc = 0;

		if (p->lazy || dt_plan_continues(p))
			continue;
		switch (p->kind) {
		case PK_ENTRY: rc = attach_raw(e, p, "sys_enter", err); break;
		case PK_RETURN: rc = attach_raw(e, p, "sys_exit", err); break;
		case PK_PROFILE: rc = attach_profile(e, p, err); break;
		case PK_TRACEPOINT: rc = attach_tracepoints(e, p, err); break;
		case PK_FUNC_ENTRY:
		case PK_FUNC_RETURN:
		case PK_INSTRUCTION: rc = dt_attach_functions(e, p, err); break;
		case PK_PERF: rc = dt_attach_counters(e, p, err); break;
		case PK_UPROBE:
		case PK_URETPROBE: rc = dt_attach_user(e, p, 0, err); break;
		default: break;
		}
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* ---- letting go ---- */

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

/* Closing what holds a perf event may wait for RCU, tens of milliseconds each: many at a time. */
#define CLOSERS 64

void dt_attach_end(dt_engine *e)
{
	uint32_t step;
	struct closer c[CLOSERS];
	pthread_t threads[CLOSERS];
	bool started[CLOSERS] = {0};

	dt_attach_user_end(e);
	dt_attach_functions_end(e);
	step = e->links.n < 4 ? 1 : e->links.n < CLOSERS ? e->links.n : CLOSERS;
	for (uint32_t i = 0; i < step; i++) {
		c[i] = (struct closer){e->links.v, e->links.n, i, step};
		if (i + 1 < step)
			started[i] = pthread_create(&threads[i], NULL, close_some, &c[i]) == 0;
		if (!started[i])
			close_some(&c[i]);
	}
	for (uint32_t i = 0; i < step; i++)
		if (started[i])
			pthread_join(threads[i], NULL);
	dt_vec_free(&e->links);
}

/* ---- BEGIN and END ---- */

/*
 * Both run on the CPU the tracer began on. Asking the kernel for a CPU would not do: when it is
 * another one, the program runs there in an interrupt, on behalf of whatever process that was. So
 * we go there.
 */
int dt_attach_fire(dt_engine *e, enum dt_probe_kind kind, dt_error *err)
{
	uint64_t args[2] = {0};
	size_t size = CPU_ALLOC_SIZE(e->ncpus);
	cpu_set_t *before = CPU_ALLOC(e->ncpus), *one = CPU_ALLOC(e->ncpus);
	bool moved = false;
	int rc = 0;

	if (before && one && sched_getaffinity(0, size, before) == 0) {
		CPU_ZERO_S(size, one);
		CPU_SET_S(e->begin_cpu, size, one);
		moved = sched_setaffinity(0, size, one) == 0;
	}
	for (uint32_t i = 0; i < e->progs.n && rc == 0; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = args, .ctx_size_in = sizeof(args));

		if (e->progs.v[i].kind != kind || dt_plan_continues(&e->progs.v[i]))
			continue;
		if (kind == PK_BEGIN && *(volatile uint64_t *)(e->control + CTL_EXITING))
			break;
		if (bpf_prog_test_run_opts(e->progs.v[i].fd, &o) < 0)
			rc = dt_err(err, errno, "cannot run %s in the kernel: %s",
				    kind == PK_BEGIN ? "BEGIN" : "END", dt_strerror(errno));
	}
	if (moved)
		sched_setaffinity(0, size, before);
	CPU_FREE(before);
	CPU_FREE(one);
	return rc;
}

/*
 * overhead: option overhead: measures what the programs of the session cost, and does what engine/shedding.h decides.
 *
 * The kernel adds up how long each program has run (run-time statistics: two readings of the clock per run of every
 * program in the machine, while a process asks for them). Every tenth of a second this is compared with the time that all
 * CPUs had. What an event costs outside of our programs, such as the trap of a probe in a process, is not known and not
 * counted.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "bpf/run/overhead.h"
#include "engine/shedding.h"

#define CHECK 100000000ull /* nanoseconds between checks */
#define PPM   1000000u

struct dt_overhead {
	struct dt_shedder shedder;
	int stats; /* while it is open the kernel measures */
	uint64_t ncpus;
	uint64_t checked, all, clocks; /* when; run times of all programs, and of those of profile probes, until then */
	DT_VEC(struct clock {
		int event;
		uint64_t period;
	}) events;
};

static uint64_t run_time(const dt_bpf *e, bool clocks)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < e->loaded.n; i++) {
		enum dt_probe_kind kind = e->plan.progs.v[i].kind;
		struct bpf_prog_info info = {0};
		uint32_t len = sizeof(info);

		if (!dt_kind_is_tracer(kind) && (!clocks || kind == PK_PROFILE) && e->loaded.v[i].fd >= 0 &&
		    bpf_obj_get_info_by_fd(e->loaded.v[i].fd, &info, &len) == 0)
			sum += info.run_time_ns;
	}
	return sum;
}

static void apply(dt_bpf *e, const struct dt_shedding *old, const struct dt_shedding *now)
{
	struct dt_overhead *b = e->overhead;

	__atomic_store_n(dt_control(e, CTL_QUIET), now->quiet, __ATOMIC_RELAXED);
	__atomic_store_n(dt_control(e, CTL_SAMPLE), now->sample, __ATOMIC_RELAXED);
	for (uint32_t i = 0; now->rate != old->rate && i < b->events.n; i++) {
		uint64_t period = b->events.v[i].period * now->rate;

		ioctl(b->events.v[i].event, PERF_EVENT_IOC_PERIOD, &period);
	}
}

void dt_overhead_check(dt_bpf *e)
{
	struct dt_overhead *b = e->overhead;
	uint64_t now = dt_now(), time, all, clocks;
	struct dt_shedding old;

	if (!b || e->state != BPF_RUNNING || now - b->checked < CHECK)
		return;
	time = (now - b->checked) * b->ncpus;
	all = run_time(e, false);
	clocks = b->events.n ? run_time(e, true) : 0;
	old = b->shedder.now;
	dt_shedder_check(&b->shedder, now, (all - b->all) * PPM / time, (clocks - b->clocks) * PPM / time);
	apply(e, &old, &b->shedder.now);
	b->checked = now;
	b->all = all;
	b->clocks = clocks;
}

void dt_overhead_keep(dt_bpf *e, int event, uint64_t period)
{
	*dt_vec_add(&e->overhead->events, NULL) = (struct clock){event, period};
	e->overhead->shedder.has_clocks = true;
}

int dt_overhead_begin(dt_bpf *e, dt_error *err)
{
	struct dt_overhead *b;
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	if (!e->plan.budget)
		return 0;
	b = e->overhead = dt_xcalloc(1, sizeof(*b));
	dt_shedder_init(&b->shedder, dt_opt(e->plan.opts, DT_O_OVERHEAD));
	b->ncpus = n > 0 ? (uint64_t)n : 1;
	b->checked = dt_now();
	for (uint32_t i = 0; i < e->plan.clauses.n; i++) {
		b->shedder.has_printing |= e->plan.clauses.v[i].shed == DT_SHED_PRINTING;
		b->shedder.has_sampled |= e->plan.clauses.v[i].shed == DT_SHED_SAMPLED;
	}
	b->stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (b->stats < 0)
		return dt_err(err, errno, "option overhead needs the kernel's run-time statistics of programs: %s%s",
			      dt_strerror(errno), errno == EPERM ? " (they need CAP_SYS_ADMIN)" : "");
	return 0;
}

const struct dt_shedding *dt_overhead_state(const dt_bpf *e)
{
	return e->overhead ? &e->overhead->shedder.now : NULL;
}

void dt_overhead_free(dt_bpf *e)
{
	struct dt_overhead *b = e->overhead;

	if (!b)
		return;
	for (uint32_t i = 0; i < b->events.n; i++)
		close(b->events.v[i].event);
	dt_vec_free(&b->events);
	if (b->stats >= 0)
		close(b->stats);
	free(b);
	e->overhead = NULL;
}

/*
 * pe_clock: tick and profile.
 *
 * A thread of ours waits for the next moment at which a probe is due. tick fires here, as BEGIN does, in the thread of the
 * session, which is woken for it; if that is late, it makes up for what it has missed. profile fires in the threads of the
 * target that run at that moment (pe_sample.c); moments that are missed are left out.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "process/process.h"

#define SECOND 1000000000ull

bool dt_pe_is_clock(const dt_ecb *ecb)
{
	return ecb->events && ecb->events->n && ecb->events->v[0].at.kind == DT_AT_CLOCK;
}

bool dt_pe_is_sampled(const dt_ecb *ecb)
{
	return dt_pe_is_clock(ecb) && !ecb->events->v[0].at.one;
}

static bool is_known(const dt_pe *p, const dt_probe *probe)
{
	for (uint32_t i = 0; i < p->clocks.n; i++)
		if (p->clocks.v[i].probe == probe)
			return true;
	return false;
}

/* The clauses of a probe that fires in the target. */
static struct dt_pe_site *make_site(dt_pe *p, const dt_probe *probe)
{
	struct dt_pe_site *s = dt_pe_alloc(&p->memory, sizeof(*s));
	const struct dt_vm_ecb **list = dt_pe_alloc(&p->memory, p->host->necbs * sizeof(*list));

	if (!s || !list)
		return NULL;
	*s = (struct dt_pe_site){.samples = true, .shows_cpu = true, .ecbs = list};
	for (uint32_t i = 0; i < p->host->necbs; i++)
		if (p->host->ecbs[i].probe == DT_VM_OTHER && p->host->ecbs[i].ecb->probe == probe)
			list[s->necbs++] = &p->program.ecbs[i];
	return s;
}

bool dt_pe_clocks_make(dt_pe *p, bool target)
{
	for (uint32_t i = 0; i < p->host->necbs; i++) {
		const dt_ecb *ecb = p->host->ecbs[i].ecb;
		struct dt_pe_clock c = {.probe = ecb->probe};

		if (!dt_pe_is_clock(ecb) || is_known(p, ecb->probe))
			continue;
		c.period = ecb->events->v[0].at.number;
		if (target && dt_pe_is_sampled(ecb)) {
			c.site = make_site(p, ecb->probe);
			if (!c.site)
				return false;
		}
		*dt_vec_add(&p->clocks, NULL) = c;
	}
	return true;
}

int dt_pe_clocks_stubs(dt_pe *p, dt_error *err)
{
	for (uint32_t i = 0; i < p->clocks.n; i++) {
		struct dt_pe_clock *c = &p->clocks.v[i];

		if (!c->site)
			continue;
		if (dt_pe_target_sample(&p->target, dt_vm_addr(c->site), &c->stub, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- the thread ---- */

static uint64_t next_due(const dt_pe *p)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < p->clocks.n; i++)
		next = p->clocks.v[i].due < next ? p->clocks.v[i].due : next;
	return next;
}

/* Its moment has come. True: the session is to be woken. */
static bool is_due(dt_pe *p, struct dt_pe_sampler *sampler, struct dt_pe_clock *c, uint64_t now)
{
	uint64_t n = (now - c->due) / c->period + 1;

	c->due += n * c->period;
	if (c->site) {
		if (__atomic_load_n(&p->shared->live, __ATOMIC_RELAXED))
			dt_pe_sample(sampler, c->stub);
		return false;
	}
	__atomic_add_fetch(&c->waiting, n, __ATOMIC_SEQ_CST);
	return true;
}

static void *run_clocks(void *arg)
{
	dt_pe *p = arg;
	struct dt_pe_sampler sampler = {.target = &p->target, .child = p->created};
	uint64_t one = 1;

	for (;;) {
		struct pollfd end = {.fd = p->clock_fd, .events = POLLIN};
		uint64_t now = dt_now(), next = next_due(p), left = next > now ? next - now : 0;
		bool wake = false;

		if (ppoll(&end, 1, &(struct timespec){(time_t)(left / SECOND), (long)(left % SECOND)}, NULL) > 0)
			break;
		dt_pe_sample_late(&sampler);
		now = dt_now();
		for (uint32_t i = 0; i < p->clocks.n; i++)
			if (p->clocks.v[i].due <= now)
				wake = is_due(p, &sampler, &p->clocks.v[i], now) || wake;
		if (wake && write(p->wake_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
			break;
	}
	dt_vec_free(&sampler.late); /* the kernel lets them go when this thread ends */
	return NULL;
}

void dt_pe_clocks_start(dt_pe *p)
{
	uint64_t now = dt_now();
	sigset_t all, before;

	if (!p->clocks.n)
		return;
	for (uint32_t i = 0; i < p->clocks.n; i++)
		p->clocks.v[i].due = now + p->clocks.v[i].period;
	p->clock_fd = eventfd(0, EFD_CLOEXEC);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (p->clock_fd >= 0 && pthread_create(&p->clock_thread, NULL, run_clocks, p) != 0) {
		close(p->clock_fd);
		p->clock_fd = -1;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void dt_pe_clocks_stop(dt_pe *p)
{
	uint64_t one = 1;

	if (p->clock_fd < 0)
		return;
	if (write(p->clock_fd, &one, sizeof(one)) == sizeof(one))
		pthread_join(p->clock_thread, NULL);
	close(p->clock_fd);
	p->clock_fd = -1;
}

bool dt_pe_clocks_fire(dt_pe *p)
{
	bool any = false;

	for (uint32_t i = 0; i < p->clocks.n; i++) {
		uint64_t n = __atomic_exchange_n(&p->clocks.v[i].waiting, 0, __ATOMIC_SEQ_CST);

		for (any = any || n; n && !p->host->exiting; n--)
			dt_vm_fire_other(p->host, p->clocks.v[i].probe, NULL);
	}
	if (p->host->exiting && p->shared)
		__atomic_store_n(&p->shared->live, 0, __ATOMIC_SEQ_CST);
	return any;
}

void dt_pe_clocks_free(dt_pe *p)
{
	dt_pe_clocks_stop(p);
	dt_vec_free(&p->clocks);
}

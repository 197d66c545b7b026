/*
 * agent_busy: signs of life. An agent that compiles, attaches, reads large tables, detaches, or waits for machines behind it does
 * not answer meanwhile. A front takes one that is silent for some seconds for gone, so a thread tells it each second that the
 * agent is at work. How long that may take is for the front to say.
 *
 * The thread sends frames without a body, into a buffer that has room for them since HELLO: so it hardly ever allocates memory
 * while the other thread forks.
 */
#include <signal.h>

#include "session/agent.h"

#define EVERY_NS    UINT64_C(1000000000)
#define PENDING_MAX (64u << 10) /* the front does not read: it knows that we are there */

/* False: the thread is to end. */
static bool sleep_for_a_while(struct dt_agent_busy *b)
{
	uint64_t until = dt_now() + EVERY_NS;
	struct timespec when = {(time_t)(until / EVERY_NS), (long)(until % EVERY_NS)};
	int rc = 0;

	pthread_mutex_lock(&b->lock);
	while (!b->ending && rc == 0)
		rc = pthread_cond_clockwait(&b->changed, &b->lock, CLOCK_MONOTONIC, &when);
	pthread_mutex_unlock(&b->lock);
	return rc != 0;
}

static void *tell(void *arg)
{
	struct dt_agent_busy *b = arg;

	while (sleep_for_a_while(b)) {
		uint64_t since = __atomic_load_n(&b->since, __ATOMIC_RELAXED), now = dt_now();

		if (!since || since + EVERY_NS > now)
			continue;
		if (dt_link_pending(b->link) <= PENDING_MAX)
			dt_link_send(b->link, DT_M_BUSY, NULL);
		dt_link_flush(b->link);
	}
	return NULL;
}

void dt_agent_busy_open(struct dt_agent_busy *b, dt_link *link)
{
	sigset_t all, before;

	if (b->runs)
		return;
	b->link = link;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->changed, NULL);
	sigfillset(&all); /* signals are for the other thread */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	b->runs = pthread_create(&b->thread, NULL, tell, b) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void dt_agent_busy_set(struct dt_agent_busy *b, bool works)
{
	__atomic_store_n(&b->since, works ? dt_now() : 0, __ATOMIC_RELAXED);
}

void dt_agent_busy_close(struct dt_agent_busy *b)
{
	if (!b->runs)
		return;
	pthread_mutex_lock(&b->lock);
	b->ending = true;
	pthread_cond_signal(&b->changed);
	pthread_mutex_unlock(&b->lock);
	pthread_join(b->thread, NULL);
	pthread_mutex_destroy(&b->lock);
	pthread_cond_destroy(&b->changed);
	b->runs = false;
}

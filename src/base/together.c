/*
 * together: pieces of work that do not depend on each other, on several CPUs.
 *
 * For what waits for the kernel to compute, such as loading programs. The threads exist only during the call, so that nothing
 * else has to know about them; no signal is delivered to them. Where no thread can be made, the caller does all the work.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "base/base.h"

#define THREADS_MAX 8
#define STACK_SIZE  (256u << 10)

struct together {
	uint32_t n, next;
	void (*work)(void *arg, uint32_t i);
	void *arg;
};

static void *take_pieces(void *arg)
{
	struct together *t = arg;
	uint32_t i;

	while ((i = __atomic_fetch_add(&t->next, 1, __ATOMIC_RELAXED)) < t->n)
		t->work(t->arg, i);
	return NULL;
}

/* CPUs that this process may use. */
static uint32_t cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 2; /* more than the set holds */
}

/* A thread that gets no signals. */
static bool start_thread(pthread_t *id, void *(*run)(void *arg), void *arg)
{
	pthread_attr_t attr;
	sigset_t all, before;
	bool started;

	if (pthread_attr_init(&attr) != 0)
		return false;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	started = pthread_create(id, &attr, run, arg) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return started;
}

void dt_together(uint32_t n, void (*work)(void *arg, uint32_t i), void *arg)
{
	struct together t = {.n = n, .work = work, .arg = arg};
	uint32_t most = n < THREADS_MAX ? n : THREADS_MAX, have = cpus(), threads = 0;
	pthread_t id[THREADS_MAX];

	most = most < have ? most : have;
	while (threads + 1 < most && start_thread(&id[threads], take_pieces, &t))
		threads++;
	take_pieces(&t);
	while (threads > 0)
		pthread_join(id[--threads], NULL);
}

static void *run_beside(void *arg)
{
	const dt_beside *b = arg;

	b->work(b->arg);
	return NULL;
}

void dt_beside_begin(dt_beside *b, void (*work)(void *arg), void *arg)
{
	b->work = work;
	b->arg = arg;
	b->runs = cpus() > 1 && start_thread(&b->id, run_beside, b);
}

void dt_beside_end(dt_beside *b)
{
	if (b->runs)
		pthread_join(b->id, NULL);
	else if (b->work)
		b->work(b->arg);
	*b = (dt_beside){0};
}

/* Work on several CPUs: each piece once, all done at the end, no signal taken by a helper thread. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "base/base.h"
#include "unit.h"

static uint32_t done[1000];

static void note(void *arg, uint32_t i)
{
	(void)arg;
	__atomic_fetch_add(&done[i], 1, __ATOMIC_RELAXED);
}

static void test_once(uint32_t n)
{
	memset(done, 0, sizeof(done));
	dt_together(n, note, NULL);
	for (uint32_t i = 0; i < DT_NELEM(done); i++)
		CHECK(done[i] == (i < n));
}

static pthread_t caller;

/* Helpers block all signals; the mask of the caller is as it was. */
static void look_at_mask(void *arg, uint32_t i)
{
	uint32_t *wrong = arg;
	sigset_t now;

	(void)i;
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	if (sigismember(&now, SIGINT) == (pthread_equal(pthread_self(), caller) != 0))
		__atomic_fetch_add(wrong, 1, __ATOMIC_RELAXED);
	usleep(100);
}

static void count_call(void *arg)
{
	usleep(1000);
	++*(uint32_t *)arg;
}

/* Once, and before the end; again with the same structure; an end without a beginning does nothing. */
static void test_beside(void)
{
	dt_beside b = {0};
	uint32_t calls = 0;

	dt_beside_end(&b);
	for (uint32_t i = 1; i <= 3; i++) {
		dt_beside_begin(&b, count_call, &calls);
		dt_beside_end(&b);
		CHECK(calls == i);
		dt_beside_end(&b);
		CHECK(calls == i);
	}
}

int main(void)
{
	uint32_t wrong = 0;

	caller = pthread_self();
	for (uint32_t n = 0; n < 20; n++)
		test_once(n);
	test_once(1000);
	dt_together(100, look_at_mask, &wrong);
	CHECK(wrong == 0);
	test_beside();
	return unit_done();
}

/*
 * step: what long work is doing, for another thread to show.
 *
 * Work has steps, and a step may begin another (attaching probes reads a file): the inner one is shown, and the outer one again
 * when it ends. The lock is held only for copying.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/base.h"

void dt_progress_init(dt_progress *p)
{
	pthread_mutex_init(&p->lock, NULL);
	p->now = (struct dt_step){0};
}

static struct dt_step exchange(dt_progress *p, const struct dt_step *s)
{
	struct dt_step old;

	pthread_mutex_lock(&p->lock);
	old = p->now;
	p->now = *s;
	pthread_mutex_unlock(&p->lock);
	return old;
}

struct dt_step dt_progress_begin(dt_progress *p, uint64_t total, const char *fmt, ...)
{
	struct dt_step s = {.total = total};
	va_list ap;

	if (!p)
		return s;
	va_start(ap, fmt);
	vsnprintf(s.what, sizeof(s.what), fmt, ap);
	va_end(ap);
	return exchange(p, &s);
}

void dt_progress_add(dt_progress *p, uint64_t n)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->now.done += n;
	pthread_mutex_unlock(&p->lock);
}

void dt_progress_end(dt_progress *p, const struct dt_step *outer)
{
	if (p)
		exchange(p, outer);
}

struct dt_step dt_progress_now(dt_progress *p)
{
	struct dt_step s;

	pthread_mutex_lock(&p->lock);
	s = p->now;
	pthread_mutex_unlock(&p->lock);
	return s;
}

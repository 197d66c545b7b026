/*
 * servers: the NATS servers of a front. Before the program runs it waits for a server. Later it must not: one that does not answer
 * takes seconds, and no line would be printed meanwhile. So a thread connects, and the next look for machines finds the result.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "fleet/one_target.h"

struct dt_opening {
	char *url;
	pthread_mutex_t lock; /* of what follows */
	bool done, forgotten;
	dt_nats *nats; /* NULL: error */
	dt_error err;
};

static void discard(struct dt_opening *o)
{
	dt_nats_free(o->nats);
	pthread_mutex_destroy(&o->lock);
	free(o->url);
	free(o);
}

static void *open_it(void *arg)
{
	struct dt_opening *o = arg;
	dt_error err = {0};
	sigset_t all;
	dt_nats *n;
	bool forgotten;

	sigfillset(&all); /* signals are for the other thread */
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	n = dt_nats_open(o->url, true, &err);
	if (n)
		dt_nats_ask(n);
	pthread_mutex_lock(&o->lock);
	o->nats = n;
	o->err = err;
	o->done = true;
	forgotten = o->forgotten;
	pthread_mutex_unlock(&o->lock);
	if (forgotten)
		discard(o);
	return NULL;
}

static struct dt_opening *begin(const char *url)
{
	struct dt_opening *o = dt_xcalloc(1, sizeof(*o));
	pthread_attr_t detached;
	pthread_t thread;
	int rc;

	o->url = dt_xstrdup(url);
	pthread_mutex_init(&o->lock, NULL);
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	rc = pthread_create(&thread, &detached, open_it, o);
	pthread_attr_destroy(&detached);
	if (rc == 0)
		return o;
	discard(o);
	return NULL;
}

static bool is_done(struct dt_opening *o)
{
	bool done;

	pthread_mutex_lock(&o->lock);
	done = o->done;
	pthread_mutex_unlock(&o->lock);
	return done;
}

/* The result of the thread; NULL: there is none yet, or an error. */
static dt_nats *open_later(dt_fleet *f, const char *url, dt_error *err)
{
	struct dt_opening *o;
	uint32_t i = 0;
	dt_nats *n;

	while (i < f->openings.n && strcmp(f->openings.v[i]->url, url) != 0)
		i++;
	if (i == f->openings.n) {
		if ((o = begin(url)))
			*dt_vec_add(&f->openings, NULL) = o;
		return NULL;
	}
	o = f->openings.v[i];
	if (!is_done(o))
		return NULL;
	f->openings.v[i] = f->openings.v[--f->openings.n];
	n = o->nats;
	*err = o->err;
	o->nats = NULL;
	discard(o);
	return n;
}

static dt_nats *open_now(dt_fleet *f, const char *url, dt_error *err)
{
	dt_nats *n = dt_nats_open(url, true, err);

	if (n) {
		dt_nats_ask(n);
		dt_nats_settle(n, dt_opt(f->env.opts, DT_O_TARGETWAIT));
	}
	return n;
}

dt_nats *dt_fleet_server(dt_fleet *f, const char *url)
{
	dt_error err = {0};
	dt_nats *n;

	for (uint32_t i = 0; i < f->nats.n; i++)
		if (strcmp(dt_nats_url(f->nats.v[i]), url) == 0)
			return f->nats.v[i];
	n = f->going ? open_later(f, url, &err) : open_now(f, url, &err);
	if (n) {
		*dt_vec_add(&f->nats, NULL) = n;
	} else if (err.text[0] && !dt_map_get(f->seen, url)) {
		dt_map_set(f->seen, url, f); /* it is said once */
		dt_fleet_tell(f, DT_DIAG_DROP, err.text);
	}
	return n;
}

void dt_fleet_leave_servers(dt_fleet *f)
{
	for (uint32_t i = 0; i < f->nats.n; i++)
		dt_nats_free(f->nats.v[i]);
	dt_vec_free(&f->nats);
	for (uint32_t i = 0; i < f->openings.n; i++) {
		struct dt_opening *o = f->openings.v[i];
		bool done;

		pthread_mutex_lock(&o->lock);
		o->forgotten = true;
		done = o->done;
		pthread_mutex_unlock(&o->lock);
		if (done)
			discard(o);
	}
	dt_vec_free(&f->openings);
}

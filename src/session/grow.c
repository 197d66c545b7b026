/*
 * grow: adds probes during tracing.
 *
 * Probes in processes appear when a process loads a library or runs another program, and when it
 * forks: the child has its own. Clauses whose descriptions can match such probes
 * (dt_provider.grows) are kept here; when something happens that could affect one of them
 * (dt_provider.news), its description is matched again, and the engine gets the probes that it has
 * no ECB on yet.
 *
 * With option follow, probes in a process are also in its children: the engine does this (adopt).
 * What they load and run is reported as news of the process.
 *
 * A process that loads a library could call its functions before the tracer learns of it. So it
 * waits at a gate, the function of the dynamic linker that debuggers use for the same purpose
 * (engine.h). There it spins, so the tracer first grabs it by ptrace and then admits it: it stops
 * on its return to user mode, for as long as it takes to attach. Where ptrace is refused it spins
 * until then. An engine that enters processes lets it sleep there, and stops it by itself.
 *
 * args[] of a clause were compiled for the probes that existed then. A new probe must have the same
 * arguments if the clause uses them.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "proc/control.h"
#include "session/probe_source.h"
#include "session/session.h"

struct growing {
	dt_clause *clause;
	const dt_provider *provider;
	uint32_t kinds;
	bool uses_args, stale;
	long pid;	       /* that its provider name ends with; 0: none */
	DT_VEC(uint32_t) ids;  /* probes it is on, in ascending order */
	const dt_probe *first; /* one of them, for its arguments */
};

struct dt_grow {
	DT_VEC(struct growing) all;
	struct dt_proc_listener listener;
	struct dt_sideband_listener side;
	bool listens;
	DT_VEC(long) gates;			  /* processes that have one */
	uint64_t arrived;			  /* at gates, that have been seen */
	uint32_t epid;				  /* last one given, without other machines */
	char said[sizeof(((dt_error *)0)->text)]; /* last problem that was reported */
};

/* ---- which clauses ---- */

static const dt_provider *growing_provider(const dt_probedesc *d, uint32_t *kinds)
{
	for (const dt_provider *const *p = dt_provider_table; *p; p++) {
		if (!(*p)->grows || ((*p)->claims && !(*p)->claims(*p, d->prov)))
			continue;
		*kinds = (*p)->grows(*p, d);
		if (*kinds)
			return *p;
	}
	return NULL;
}

/* The number that a name ends with. */
static long trailing_pid(const char *prov)
{
	const char *p = prov + strlen(prov);

	while (p > prov && isdigit((unsigned char)p[-1]))
		p--;
	return *p && p > prov ? atol(p) : 0;
}

static struct growing *find(struct dt_grow *g, const dt_clause *c)
{
	for (uint32_t i = 0; i < g->all.n; i++)
		if (g->all.v[i].clause == c)
			return &g->all.v[i];
	return NULL;
}

uint32_t dt_grow_clause(dtrace_hdl_t *h, dt_clause *c)
{
	uint32_t kinds = 0;
	const dt_provider *p = growing_provider(&c->desc, &kinds);
	struct growing *x;

	if (!p)
		return 0;
	if (!h->grow)
		h->grow = dt_xcalloc(1, sizeof(*h->grow));
	if (!find(h->grow, c)) {
		x = dt_vec_add(&h->grow->all, NULL);
		*x = (struct growing){.clause = c,
				      .provider = p,
				      .kinds = kinds,
				      .uses_args = dt_clause_reads(c, DT_VAR_ARGS),
				      .pid = trailing_pid(c->desc.prov)};
	}
	return kinds;
}

/* ---- news ---- */

/* Does the description concern this process, or one that it is followed from? */
static bool is_about(const dtrace_hdl_t *h, const struct growing *x, long pid)
{
	const dt_proc *p;

	if (!x->pid || x->pid == pid)
		return true;
	p = dt_opt(&h->opts, DT_O_FOLLOW) ? dt_procs_find(h->procs, pid) : NULL;
	return p && p->origin == DT_PROC_FOLLOWED;
}

static bool is_news(const dtrace_hdl_t *h, const struct growing *x, enum dt_sideband_event what,
		    long pid, long parent, const dt_file *file)
{
	const dt_provider *p = x->provider;

	if (what == DT_SB_FORK)
		return p->forked && p->forked(p, h->probes, &x->clause->desc, pid, parent);
	return is_about(h, x, pid) && p->news(p, h->probes, &x->clause->desc, pid, file);
}

static void on_side(void *arg, enum dt_sideband_event what, long pid, long parent,
		    const dt_umap *map)
{
	dtrace_hdl_t *h = arg;

	if (what == DT_SB_EXIT) {
		h->engine_ops->retire(h->engine, pid);
		return;
	}
	for (uint32_t i = 0; i < h->grow->all.n; i++) {
		struct growing *x = &h->grow->all.v[i];

		/* every time: the provider may want to remember the process */
		if (is_news(h, x, what, pid, parent, map ? map->file : NULL))
			x->stale = true;
	}
}

static void on_process(void *arg, enum dt_proc_event what, dt_proc *p, const dt_umap *map)
{
	dtrace_hdl_t *h = arg;

	(void)map;
	if (what == DT_PROC_FORK)
		h->engine_ops->adopt(h->engine, p->pid, p->parent);
	else if (what == DT_PROC_EXIT)
		h->engine_ops->retire(h->engine, p->pid);
}

/* ---- before tracing ---- */

static void stop_listening(dtrace_hdl_t *h)
{
	struct dt_grow *g = h->grow;

	if (!g->listens)
		return;
	dt_sideband_unlisten(dt_procs_sideband(h->procs), &g->side);
	dt_procs_unlisten(h->procs, &g->listener);
	g->listens = false;
}

void dt_grow_open(dtrace_hdl_t *h)
{
	struct dt_grow *g = h->grow;

	if (!g)
		return;
	if (!h->engine_ops->extend) {
		stop_listening(h);
		return;
	}
	for (uint32_t i = 0; i < g->all.n; i++)
		g->all.v[i].ids.n = 0; /* it may be the second try */
	for (uint32_t i = 0; i < h->ecbs.n; i++) {
		struct growing *x = find(g, h->ecbs.v[i].clause);

		if (!x)
			continue;
		*dt_vec_add(&x->ids, NULL) = h->ecbs.v[i].probe->id;
		x->first = h->ecbs.v[i].probe;
	}
	g->epid = h->ecbs.n;
	if (g->listens)
		return;
	g->listener = (struct dt_proc_listener){.arg = h, .event = on_process};
	g->side = (struct dt_sideband_listener){.arg = h, .event = on_side};
	dt_sideband_listen(dt_procs_sideband(h->procs), &g->side);
	dt_procs_listen(h->procs, &g->listener);
	g->listens = true;
}

void dt_grow_free(dtrace_hdl_t *h)
{
	struct dt_grow *g = h->grow;

	if (!g)
		return;
	stop_listening(h);
	for (uint32_t i = 0; i < g->all.n; i++) {
		dt_vec_free(&g->all.v[i].ids);
	}
	dt_vec_free(&g->all);
	dt_vec_free(&g->gates);
	free(g);
	h->grow = NULL;
}

/* ---- gates ---- */

/* Put one where the dynamic linker of the process announces new objects. */
static void put_gate(dtrace_hdl_t *h, long pid)
{
	uint64_t offset = 0;
	dt_error err = {0};
	char path[32];
	int fd;

	for (uint32_t i = 0; i < h->grow->gates.n; i++)
		if (h->grow->gates.v[i] == pid)
			return;
	*dt_vec_add(&h->grow->gates, NULL) = pid;
	fd = dt_proc_load_point(pid, h->jail, &offset);
	if (fd < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (h->engine_ops->gate(h->engine, path, offset, pid, &err) < 0)
		dt_session_debug(h, "no gate in pid %ld: %s", pid, err.text);
	close(fd);
}

/* Option follow: a process that probes are named in has a family from now on, also if there are no probes yet. */
static void found_families(dtrace_hdl_t *h)
{
	const struct dt_grow *g = h->grow;
	const dt_proc *p;

	for (uint32_t i = 0; i < g->all.n; i++)
		if (g->all.v[i].pid)
			h->engine_ops->adopt(h->engine, g->all.v[i].pid, g->all.v[i].pid);
	for (uint32_t i = 0; (p = dt_procs_nth(h->procs, i)); i++)
		if (p->origin == DT_PROC_FOLLOWED)
			h->engine_ops->adopt(h->engine, p->pid, p->parent);
}

void dt_grow_begin(dtrace_hdl_t *h)
{
	struct dt_grow *g = h->grow;

	if (!g || !g->listens)
		return;
	for (uint32_t i = 0; i < g->all.n; i++) {
		if (g->all.v[i].pid && dt_procs_find(h->procs, g->all.v[i].pid))
			put_gate(h, g->all.v[i].pid);
	}
	if (dt_opt(&h->opts, DT_O_FOLLOW))
		found_families(h);
}

void dt_grow_anew(dtrace_hdl_t *h)
{
	for (uint32_t i = 0; h->grow && i < h->grow->all.n; i++)
		h->grow->all.v[i].stale = true;
}

bool dt_grow_is_awaited(const dtrace_hdl_t *h)
{
	return h->grow && h->grow->listens && h->state == DT_SESSION_ACTIVE &&
	       h->engine_ops->arrived(h->engine) != h->grow->arrived;
}

/* Grab the processes that have arrived. True: some have to be released. */
static bool receive(dtrace_hdl_t *h)
{
	struct dt_grow *g = h->grow;
	uint64_t n = h->engine_ops->arrived(h->engine);
	bool all = true, any = false;

	for (uint64_t i = g->arrived + 1; i <= n; i++) {
		bool held = !h->engine_ops->enters && dt_procs_hold_again(h->procs, h->engine_ops->comer(h->engine, i));

		any = any || held;
		all = all && held;
	}
	g->arrived = n;
	if (all)
		h->engine_ops->admit(h->engine, n);
	for (uint32_t i = 0; i < g->all.n; i++)
		g->all.v[i].stale = g->all.v[i].stale || g->all.v[i].pid;
	return any;
}

#define NEWS_MS 20

int dt_grow_ms(const dtrace_hdl_t *h)
{
	if (!h->grow || !h->grow->listens || h->state != DT_SESSION_ACTIVE)
		return -1;
	for (uint32_t i = 0; i < h->grow->all.n; i++)
		if (!h->grow->all.v[i].pid || dt_opt(&h->opts, DT_O_FOLLOW))
			return NEWS_MS;
	return -1;
}

/* ---- matching again ---- */

typedef DT_VEC(dt_ecb) new_ecbs;

/* True: the id was not there; now it is. */
static bool add_id(struct growing *x, uint32_t id)
{
	uint32_t lo = 0, hi = x->ids.n;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (x->ids.v[mid] < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < x->ids.n && x->ids.v[lo] == id)
		return false;
	dt_vec_add(&x->ids, NULL);
	memmove(x->ids.v + lo + 1, x->ids.v + lo, (x->ids.n - 1 - lo) * sizeof(*x->ids.v));
	x->ids.v[lo] = id;
	return true;
}

static void match(dtrace_hdl_t *h, struct growing *x, const dt_probedesc *d, new_ecbs *out,
		  dt_error *err)
{
	dt_error ignored = {0};
	dt_probe **probes;
	int n = dt_probes_match(h->probes, d, false, &probes, &ignored);

	for (int i = 0; i < n; i++) {
		dt_ecb ecb = {.probe = probes[i], .clause = x->clause};

		if (!add_id(x, probes[i]->id))
			continue;
		if (x->uses_args && x->first && !dt_probe_same_args(h->probes, x->first, probes[i]))
			continue;
		if (dt_events_of(h, &ecb, err) < 0)
			continue;
		ecb.epid = h->fleet ? dt_fleet_epid(h->fleet) : ++h->grow->epid;
		*dt_vec_add(out, NULL) = ecb;
	}
}

static bool has_found(const new_ecbs *out, const dt_provider *p)
{
	for (uint32_t i = 0; i < out->n; i++)
		if (out->v[i].probe->provider == p)
			return true;
	return false;
}

/* Processes continue meanwhile: a probe that one description missed, another may find a moment
 * later. All clauses of a probe must be added at once, so those of its provider are matched again
 * until nothing more is found. */
static void match_stale(dtrace_hdl_t *h, new_ecbs *out, dt_error *err)
{
	struct dt_grow *g = h->grow;
	uint32_t before;

	do {
		before = out->n;
		for (uint32_t i = 0; i < g->all.n; i++) {
			struct growing *x = &g->all.v[i];

			if (!x->stale && !has_found(out, x->provider))
				continue;
			x->stale = false;
			match(h, x, &x->clause->desc, out, err);
		}
	} while (out->n > before);
}

static int report(dtrace_hdl_t *h, const dt_error *err)
{
	char text[sizeof(err->text) + 64];

	if (strcmp(h->grow->said, err->text) == 0)
		return 0;
	memcpy(h->grow->said, err->text, sizeof(h->grow->said));
	snprintf(text, sizeof(text), "a probe could not join: %s", err->text);
	return dt_session_diag(h, DT_DIAG_FAULT,
			       text); /* its events are lost: reported even in quiet mode */
}

int dt_grow_update(dtrace_hdl_t *h)
{
	struct dt_grow *g = h->grow;
	new_ecbs found = {0};
	dt_error err = {0};
	bool held = false, failed;
	int rc = 0;

	if (!g || !g->listens || h->state != DT_SESSION_ACTIVE)
		return 0;
	if (dt_grow_is_awaited(h))
		held = receive(h);
	match_stale(h, &found, &err);
	failed = err.text[0] != 0;
	if (found.n) {
		dt_ecb *stay =
		    dt_arena_dup(dt_probes_arena(h->probes), found.v, found.n * sizeof(*found.v));

		dt_session_debug(h, "%u clauses on new probes", found.n);
		failed = h->engine_ops->extend(h->engine, stay, found.n, &err) < 0 || failed;
	}
	if (failed)
		rc = report(h, &err);
	dt_vec_free(&found);
	h->engine_ops->admit(h->engine, g->arrived);
	if (held)
		dt_procs_release(h->procs);
	return rc;
}

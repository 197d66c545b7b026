/*
 * extend: adds probes during tracing: a library was loaded, a program started, a process followed.
 *
 * Such probes are places in user code (attach_user.c), so in most cases all that is needed is a row
 * in the table of a running program, and a link. A program can take a new probe if it has all of
 * its clauses and its prologue, and a spare row. For other probes, programs are generated now, as a
 * separate group, with the layout that was fixed when tracing began: the needs of their code were
 * learned then from the lazy programs, which have every clause that can get such probes. New
 * constant strings (of prologues) go into a second read-only map.
 *
 * When a process exits, what is attached only to it is released, in the background: closing a link
 * waits for RCU.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "bpf/run/attaching.h"
#include "bpf/run/load.h"
#include "bpf/run/maps.h"

/* ---- entering ---- */

static int clause_index(const dt_bpf *e, const dt_clause *c)
{
	for (uint32_t i = 0; i < e->plan.clauses.n; i++)
		if (e->plan.clauses.v[i].c == c)
			return (int)i;
	return -1;
}

/* ECBs become clauses on probes; those that cannot are skipped. */
static int enter(dt_bpf *e, dt_ecb *ecbs, uint32_t n)
{
	int rc = 0;

	for (uint32_t i = 0; i < n; i++) {
		int clause = clause_index(e, ecbs[i].clause);
		uint32_t probe;

		if (clause < 0) {
			rc = -1;
			continue;
		}
		probe = dt_plan_probe_index(&e->plan, &ecbs[i]);
		dt_plan_ecb_room(&e->plan);
		if (dt_kind_is_user(e->plan.probes.v[probe].kind))
			dt_plan_set_ecb(&e->plan, (uint32_t)clause, probe, &ecbs[i]);
		else
			rc = -1;
	}
	return rc;
}

/* ---- which programs ---- */

static bool has_prologue(const dt_bpf *e, uint32_t prog, uint32_t prologue)
{
	const struct dt_plan_prog *p = &e->plan.progs.v[prog];

	if (!prologue || p->lazy)
		return true;
	for (uint32_t i = 0; i < e->at.progs.v[prog].nprobes; i++)
		if (e->plan.probes.v[i].prologue == prologue && dt_plan_serves(&e->plan, p, i))
			return true;
	return false;
}

static bool has_clause(const struct dt_plan_prog *p, uint32_t clause)
{
	for (uint32_t i = 0; i < p->nclauses; i++)
		if (p->clauses[i] == clause)
			return true;
	return false;
}

/* Can the programs of its group take this probe? */
static bool fits(const dt_bpf *e, uint32_t probe)
{
	const struct dt_plan_probe *x = &e->plan.probes.v[probe];

	for (uint32_t c = 0; c < e->plan.clauses.n; c++) {
		bool has = !e->plan.clauses.v[c].ecbs[probe];

		for (uint32_t i = 0; i < e->plan.progs.n && !has; i++) {
			const struct dt_plan_prog *p = &e->plan.progs.v[i];

			has = dt_plan_serves(&e->plan, p, probe) && has_clause(p, c) &&
			      has_prologue(e, i, x->prologue) &&
			      (p->lazy || x->event < e->at.progs.v[i].nevents);
		}
		if (!has)
			return false;
	}
	return true;
}

struct fresh {
	enum dt_probe_kind kind;
	struct dt_plan_group group, instead;
};
typedef DT_VEC(struct fresh) fresh_groups;

/* Probes that no program can take get a new group, which has no programs yet. */
static void regroup(dt_bpf *e, uint32_t probe, fresh_groups *all)
{
	struct dt_plan_probe *x = &e->plan.probes.v[probe];
	struct dt_plan_group instead;

	if (fits(e, probe))
		return;
	for (uint32_t i = 0; i < all->n; i++)
		if (all->v[i].kind == x->kind && dt_plan_same_group(&all->v[i].group, &x->group)) {
			x->group = all->v[i].instead;
			return;
		}
	instead = (struct dt_plan_group){.joined = ++e->plan.njoined};
	*dt_vec_add(all, NULL) = (struct fresh){x->kind, x->group, instead};
	x->group = instead;
}

/* ---- making programs ---- */

/* Generate the code once to check that everything it needs is in the layout. */
static int check_needs(dt_bpf *e, uint32_t prog, dt_error *err)
{
	struct dt_tr_input in = dt_bpf_input(e);
	dt_plan_needs now = e->needs;

	if (dt_learn_more(&e->plan, prog, &in, &now, &e->ro, err) < 0)
		return -1;
	if (dt_needs_grew(&e->needs, &now))
		return dt_err(err, EDT_NOPROBE,
			      "its arguments need more than was set up when tracing began");
	e->needs = now;
	return 0;
}

/* Programs from number `first` on, and lazy ones that are needed now. */
static int load_new(dt_bpf *e, uint32_t first, uint32_t probe, dt_error *err)
{
	uint64_t rodata = e->ro.data.n;

	for (uint32_t i = 0; i < e->plan.progs.n; i++) {
		const struct dt_plan_prog *p = &e->plan.progs.v[i];
		bool wanted = i >= first;

		for (uint32_t k = probe; k < e->plan.probes.n && p->lazy && !wanted; k++)
			wanted = dt_plan_serves(&e->plan, p, k) && dt_plan_is_on(&e->plan, p, k);
		if (!wanted)
			continue;
		if (i >= first && check_needs(e, i, err) < 0)
			return -1;
		e->plan.progs.v[i].lazy = false;
		dt_kmaps_add_programs(e);
		dt_layout_program(&e->at, &e->plan, i, &e->ro);
		e->loaded.v[i].loading = true;
	}
	if (e->ro.data.n != rodata && dt_kmaps_rodata(e, err) < 0)
		return -1;
	for (uint32_t i = 0; i < e->loaded.n; i++) {
		if (!e->loaded.v[i].loading)
			continue;
		e->loaded.v[i].loading = false;
		if (dt_user_table_make(e, i, err) < 0 || dt_load_program(e, i, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- all together ---- */

static int attach_new(dt_bpf *e, uint32_t first, dt_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < e->plan.progs.n; i++) {
		uint32_t prog = dt_plan_nth_to_attach(&e->plan, i);
		const struct dt_plan_prog *p = &e->plan.progs.v[prog];

		if (!dt_kind_is_user(p->kind) || e->loaded.v[prog].fd < 0)
			continue;
		for (uint32_t k = first; k < e->plan.probes.n; k++)
			if (dt_plan_serves(&e->plan, p, k) && dt_plan_is_on(&e->plan, p, k))
				dt_user_row_write(e, prog, k);
		if (dt_attach_user(e, prog, first, err) < 0)
			rc = -1;
	}
	return rc;
}

int dt_extend(dt_bpf *e, dt_ecb *ecbs, uint32_t n, dt_error *err)
{
	uint32_t first = e->plan.probes.n, progs = e->plan.progs.n;
	fresh_groups fresh = {0};
	int rc;

	if (e->state != BPF_RUNNING)
		return 0;
	rc = enter(e, ecbs, n);
	for (uint32_t i = first; i < e->plan.probes.n; i++)
		if (dt_kind_is_user(e->plan.probes.v[i].kind))
			regroup(e, i, &fresh);
	for (uint32_t k = 0; k < fresh.n; k++)
		for (uint32_t i = first; i < e->plan.probes.n; i++)
			if (dt_plan_same_group(&e->plan.probes.v[i].group, &fresh.v[k].instead)) {
				dt_plan_add_programs(&e->plan, i, false);
				break;
			}
	dt_vec_free(&fresh);
	if (load_new(e, progs, first, err) < 0 || dt_names_add(e, first, err) < 0 ||
	    attach_new(e, first, err) < 0)
		return -1;
	return rc;
}

/* ---- releasing what was attached in processes that have ended ---- */

struct dt_retired {
	pthread_t thread;
	bool running; /* there is a thread ... */
	bool done;    /* ... which has ended; set by it */
	int *fds;     /* that it closes */
	uint32_t n;
	DT_VEC(int) next; /* to be closed by the next thread */
};

static void *close_all(void *arg)
{
	struct dt_retired *r = arg;

	for (uint32_t i = 0; i < r->n; i++)
		close(r->fds[i]);
	__atomic_store_n(&r->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Wait for the thread, or only check whether it has ended. */
static bool finish(struct dt_retired *r, bool wait)
{
	if (!r->running)
		return true;
	if (!wait && !__atomic_load_n(&r->done, __ATOMIC_ACQUIRE))
		return false;
	pthread_join(r->thread, NULL);
	r->running = false;
	dt_vec_release(r->fds);
	r->fds = NULL;
	return true;
}

void dt_extend_retire(dt_bpf *e, long pid)
{
	struct dt_retired *r = e->retired;
	uint32_t n;
	int *fds;

	dt_family_disown(e, pid);
	if (!r)
		r = e->retired = dt_xcalloc(1, sizeof(*r));
	fds = dt_attach_user_take(e, pid, &n);
	for (uint32_t i = 0; i < n; i++)
		*dt_vec_add(&r->next, NULL) = fds[i];
	free(fds);
	if (r->next.n == 0 || !finish(r, false))
		return; /* with the next one */
	r->fds = r->next.v;
	r->n = r->next.n;
	r->next.v = NULL;
	dt_vec_free(&r->next);
	r->done = false;
	r->running = pthread_create(&r->thread, NULL, close_all, r) == 0;
	if (!r->running) {
		close_all(r);
		dt_vec_release(r->fds);
		r->fds = NULL;
	}
}

void dt_extend_end(dt_bpf *e)
{
	struct dt_retired *r = e->retired;

	if (!r)
		return;
	finish(r, true);
	for (uint32_t i = 0; i < r->next.n; i++)
		dt_attach_keep(e, r->next.v[i]);
	dt_vec_free(&r->next);
	free(r);
	e->retired = NULL;
}

/*
 * extend: probes that join while tracing: a library was loaded, a program started, a process
 * followed.
 *
 * Such probes are places in user code (attach_user.c), so all it takes in most cases is a row in
 * the table of a program that runs already, and a link. A program can take a new probe if it has
 * all of its clauses and its prologue, and a row to spare. For others programs are made now, for a
 * group of their own, with the layout that was fixed when tracing began: what their code needs was
 * learned then from the lazy programs, which have every clause that can get such probes. Constant
 * strings that are new (of prologues) go into a second read-only map.
 *
 * When a process ends, what is attached in it alone is let go, in the background: closing a link
 * waits for RCU.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "bpf/image.h"

#define NEW_GROUPS (1u << 24) /* above what plan.c gives */

/* ---- entering ---- */

static int clause_index(const dt_engine *e, const dt_clause *c)
{
	for (uint32_t i = 0; i < e->clauses.n; i++)
		if (e->clauses.v[i].c == c)
			return (int)i;
	return -1;
}

/* ECBs become clauses on probes; those that cannot be are left out. */
static int enter(dt_engine *e, dt_ecb *ecbs, uint32_t n)
{
	int rc = 0;

	for (uint32_t i = 0; i < n; i++) {
		int clause = clause_index(e, ecbs[i].clause);
		uint32_t probe;

		if (clause < 0) {
			rc = -1;
			continue;
		}
		probe = dt_plan_probe_index(e, &ecbs[i]);
		dt_plan_ecb_room(e);
		if (dt_plan_is_user(e->probes.v[probe].kind))
			dt_plan_set_ecb(e, (uint32_t)clause, probe, &ecbs[i]);
		else
			rc = -1;
	}
	return rc;
}

/* ---- which programs ---- */

static bool has_prologue(const dt_engine *e, const struct dt_plan_prog *p, uint32_t prologue)
{
	if (!prologue || p->lazy)
		return true;
	for (uint32_t i = 0; i < p->nprobes; i++)
		if (e->probes.v[i].prologue == prologue && dt_plan_serves(e, p, i))
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
static bool fits(const dt_engine *e, uint32_t probe)
{
	const struct dt_plan_probe *x = &e->probes.v[probe];

	for (uint32_t c = 0; c < e->clauses.n; c++) {
		bool has = !e->clauses.v[c].ecbs[probe];

		for (uint32_t i = 0; i < e->progs.n && !has; i++) {
			const struct dt_plan_prog *p = &e->progs.v[i];

			has = dt_plan_serves(e, p, probe) && has_clause(p, c) &&
			      has_prologue(e, p, x->prologue) && (p->lazy || x->event < p->nevents);
		}
		if (!has)
			return false;
	}
	return true;
}

struct fresh {
	enum dt_probe_kind kind;
	uint32_t group, instead;
};
typedef DT_VEC(struct fresh) fresh_groups;

/* Those that no program can take get a group of their own, for which there is none yet. */
static void regroup(dt_engine *e, uint32_t probe, fresh_groups *all)
{
	struct dt_plan_probe *x = &e->probes.v[probe];

	if (fits(e, probe))
		return;
	for (uint32_t i = 0; i < all->n; i++)
		if (all->v[i].kind == x->kind && all->v[i].group == x->group) {
			x->group = all->v[i].instead;
			return;
		}
	*dt_vec_add(all, NULL) = (struct fresh){x->kind, x->group, NEW_GROUPS + e->next_group++};
	x->group = NEW_GROUPS + e->next_group - 1;
}

/* ---- making programs ---- */

/* Make the code once to see that it needs nothing that has no place. */
static int check_needs(dt_engine *e, uint32_t *prog, dt_error *err)
{
	__typeof__(e->need) before = e->need;
	dt_code c = {0};
	int rc;

	e->learning = true;
	do {
		dt_code_free(&c);
		c = (dt_code){0};
		rc = dt_tr_program(e, &e->progs.v[*prog], &c, err);
	} while (rc == 0 && dt_plan_split(e, *prog, &c));
	e->learning = false;
	dt_code_free(&c);
	before.waiting =
	    e->need.waiting; /* a property of programs as they are loaded: no place is needed */
	if (rc == 0 && memcmp(&before, &e->need, sizeof(before)) != 0) {
		e->need = before;
		rc = dt_err(err, EDT_NOPROBE,
			    "its arguments need more than was set up when tracing began");
	}
	return rc;
}

/* Programs from number `first` on, and lazy ones that are needed now. */
static int load_new(dt_engine *e, uint32_t first, uint32_t probe, dt_error *err)
{
	uint64_t rodata = e->rodata.n;

	for (uint32_t i = 0; i < e->progs.n; i++) {
		struct dt_plan_prog *p = &e->progs.v[i];
		bool wanted = i >= first;

		for (uint32_t k = probe; k < e->probes.n && p->lazy && !wanted; k++)
			wanted = dt_plan_serves(e, p, k) && dt_plan_is_on(e, p, k);
		if (!wanted)
			continue;
		if (i >= first && check_needs(e, &i, err) < 0)
			return -1;
		p = &e->progs.v[i];
		p->lazy = false;
		dt_layout_program(e, p);
		p->loading = true;
	}
	if (e->rodata.n != rodata && dt_kmaps_rodata(e, err) < 0)
		return -1;
	for (uint32_t i = 0; i < e->progs.n; i++) {
		struct dt_plan_prog *p = &e->progs.v[i];

		if (!p->loading)
			continue;
		p->loading = false;
		if (dt_user_table_make(e, p, err) < 0 || dt_load_program(e, p, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- all together ---- */

static int attach_new(dt_engine *e, uint32_t first, dt_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < e->progs.n; i++) {
		const struct dt_plan_prog *p = dt_plan_nth_to_attach(e, i);

		if (!dt_plan_is_user(p->kind) || p->fd < 0)
			continue;
		for (uint32_t k = first; k < e->probes.n; k++)
			if (dt_plan_serves(e, p, k) && dt_plan_is_on(e, p, k))
				dt_user_row_write(e, p, k);
		if (dt_attach_user(e, p, first, err) < 0)
			rc = -1;
	}
	return rc;
}

int dt_extend(dt_engine *e, dt_ecb *ecbs, uint32_t n, dt_error *err)
{
	uint32_t first = e->probes.n, progs = e->progs.n;
	fresh_groups fresh = {0};
	int rc;

	if (e->state != BPF_RUNNING)
		return 0;
	rc = enter(e, ecbs, n);
	for (uint32_t i = first; i < e->probes.n; i++)
		if (dt_plan_is_user(e->probes.v[i].kind))
			regroup(e, i, &fresh);
	for (uint32_t k = 0; k < fresh.n; k++)
		for (uint32_t i = first; i < e->probes.n; i++)
			if (e->probes.v[i].group == fresh.v[k].instead) {
				dt_plan_add_programs(e, i, false);
				break;
			}
	dt_vec_free(&fresh);
	if (load_new(e, progs, first, err) < 0 || dt_names_add(e, first, err) < 0 ||
	    attach_new(e, first, err) < 0)
		return -1;
	return rc;
}

/* ---- letting go of ended processes ---- */

struct dt_retired {
	pthread_t thread;
	bool done; /* set by the thread */
	int *fds;
	uint32_t n;
};

static void *close_all(void *arg)
{
	struct dt_retired *r = arg;

	for (uint32_t i = 0; i < r->n; i++)
		close(r->fds[i]);
	__atomic_store_n(&r->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Wait for the thread, or only see whether it has ended. */
static bool finish(dt_engine *e, bool wait)
{
	struct dt_retired *r = e->retired;

	if (!r)
		return true;
	if (!wait && !__atomic_load_n(&r->done, __ATOMIC_ACQUIRE))
		return false;
	pthread_join(r->thread, NULL);
	free(r->fds);
	free(r);
	e->retired = NULL;
	return true;
}

void dt_extend_retire(dt_engine *e, long pid)
{
	uint32_t kept = 0, n = 0;

	dt_family_disown(e, pid);
	for (uint32_t i = 0; i < e->user_links.n; i++)
		if (e->user_links.v[i].pid == pid)
			e->user_links.v[i].pid = -1; /* to be closed */
	if (!finish(e, false))
		return; /* with the next one */
	for (uint32_t i = 0; i < e->user_links.n; i++)
		n += e->user_links.v[i].pid == -1;
	if (n == 0)
		return;
	e->retired = dt_xcalloc(1, sizeof(*e->retired));
	e->retired->fds = dt_xcalloc(n, sizeof(int));
	for (uint32_t i = 0; i < e->user_links.n; i++)
		if (e->user_links.v[i].pid == -1)
			e->retired->fds[e->retired->n++] = e->user_links.v[i].fd;
		else
			e->user_links.v[kept++] = e->user_links.v[i];
	e->user_links.n = kept;
	if (pthread_create(&e->retired->thread, NULL, close_all, e->retired) != 0) {
		close_all(e->retired);
		free(e->retired->fds);
		free(e->retired);
		e->retired = NULL;
	}
}

void dt_attach_user_end(dt_engine *e)
{
	finish(e, true);
	for (uint32_t i = 0; i < e->user_links.n; i++)
		dt_attach_keep(e, e->user_links.v[i].fd);
	dt_vec_free(&e->user_links);
}

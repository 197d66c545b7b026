/*
 * plan: from ECBs to what the kernel will run.
 *
 * ECBs come clause by clause. Here they become a list of distinct clauses and a list of distinct
 * probes, so that code is generated once per clause, however many probes it is on.
 * engine/record_plan.c decides for both engines which values are data of the record, keys of an
 * aggregation, or only effects; the layout of the record is specific to this engine:
 *
 *	header | numbers and objects at fixed offsets, a u32 for each string | the strings
 *
 * The strings are appended at their actual length, each at the offset in its u32. Keys of an
 * aggregation have one layout for all clauses that use it: every part as large as the largest.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bpf/plan/plan.h"
#include "bpf/plan/shared.h"
#include "dif/quantize.h"

/* ---- aggregations ---- */

static struct dt_plan_agg *find_agg(dt_plan *plan, const dt_agg *agg)
{
	struct dt_plan_agg *x;

	for (uint32_t i = 0; i < plan->aggs.n; i++)
		if (plan->aggs.v[i]->agg == agg)
			return plan->aggs.v[i];
	x = dt_arena_alloc(plan->arena, sizeof(*x));
	x->agg = agg;
	x->index = plan->aggs.n;
	x->nkeys = UINT32_MAX;
	*dt_vec_add(&plan->aggs, NULL) = x;
	return x;
}

/* ldgs probefunc, %r1; ret %r1: such a key is kept as the number of the probe. */
static int name_key(const dt_action *a)
{
	const dt_difo *d = a->difo;
	uint32_t id;

	if (a->kind != DT_ACT_DIFEXPR || !d || d->len != 2 || DT_I_OP(d->text[0]) != DT_OP_LDGS ||
	    DT_I_OP(d->text[1]) != DT_OP_RET || DT_I_RD(d->text[0]) != DT_I_RD(d->text[1]))
		return -1;
	id = DT_I_INDEX(d->text[0]);
	return id >= DT_VAR_PROBEPROV && id <= DT_VAR_PROBENAME ? (int)(id - DT_VAR_PROBEPROV) : -1;
}

/* Aggregating action i: its keys take as much as the largest that any clause has. */
static int plan_agg(dt_plan *plan, struct dt_plan_clause *x, uint32_t i, dt_error *err)
{
	const dt_clause *c = x->c;
	const dt_agg *agg = x->record.actions[i].agg;
	uint32_t n = c->actions[i].ntuple;
	struct dt_plan_agg *b = find_agg(plan, agg);
	bool first = b->nkeys == UINT32_MAX;

	if (first) {
		b->nkeys = n - 1;
		b->keys = dt_arena_alloc(plan->arena, n * sizeof(*b->keys));
		b->nwords = dt_agg_words(agg->func, agg->param);
		if (b->nwords < agg->nwords)
			b->nwords = agg->nwords;
	} else if (b->nkeys != n - 1) {
		return dt_err(err, EDT_BADAGG, NULL);
	}
	x->plan[i].agg = b;
	for (uint32_t k = 0; k < b->nkeys; k++) {
		uint32_t at = i - n + 1 + k;
		const dt_action *a = &c->actions[at];
		struct dt_plan_aggkey *key = &b->keys[k];

		x->plan[at].agg = b;
		if (first) {
			key->action = a;
			key->is_string = x->record.actions[at].is_string;
			key->name = name_key(a);
		} else if (key->name != name_key(a)) {
			key->name = -1;
		}
		if (!first && dt_key_is_number(a) && a->size != key->size)
			key->mixed = true;
		if (x->record.actions[at].bound > key->size)
			key->size = x->record.actions[at].bound;
		if (key->mixed)
			key->size = 8;
	}
	return 0;
}

static void place_keys(struct dt_plan_agg *b)
{
	uint32_t at = 4; /* after the generation */

	for (uint32_t k = 0; k < b->nkeys; k++) {
		struct dt_plan_aggkey *key = &b->keys[k];

		if (key->name >= 0)
			key->size = 4;
		key->offset = at;
		at = (uint32_t)dt_align_up(at + key->size, 4);
	}
	b->key_size = at;
}

#define KEYLESS_MAX 32768	/* bytes of a row of aggregations without keys ... */
#define KEYLESS_ALL (1u << 20) /* ... and of this row for one slot of each CPU */

/*
 * A map takes as long to make and to read as it has room for rows. So aggregations with keys and values of the same size share
 * one, if there are three or more; it has room for two.
 */
static void share_maps(dt_plan *plan)
{
	struct dt_plan_agg **v = plan->aggs.v;

	for (uint32_t i = 0; i < plan->aggs.n; i++) {
		v[i]->home = i;
		for (uint32_t j = 0; j < i && v[i]->nkeys && v[i]->home == i; j++)
			if (v[j]->home == j && v[j]->nkeys && v[j]->key_size == v[i]->key_size && v[j]->nwords == v[i]->nwords &&
			    v[j]->members < ROW_MEMBERS - 1) {
				v[i]->home = j;
				v[i]->member = ++v[j]->members;
			}
	}
	for (uint32_t i = 0; i < plan->aggs.n; i++)
		if (v[v[i]->home]->members == 1 && v[i]->member) {
			v[v[i]->home]->members = 0;
			v[i]->home = i;
			v[i]->member = 0;
		}
}

/* Aggregations without keys share one row for each slot; those that do not fit have rows of their own. */
static void place_aggs(dt_plan *plan)
{
	uint64_t sum = 0, most = KEYLESS_ALL / (plan->ncpus ? plan->ncpus : 1);

	most = most < KEYLESS_MAX ? most : KEYLESS_MAX;
	for (uint32_t i = 0; i < plan->aggs.n; i++) {
		struct dt_plan_agg *b = plan->aggs.v[i];
		uint64_t size = 8 + (uint64_t)b->nwords * 8;

		place_keys(b);
		if (b->nkeys != 0 || sum + size > most)
			continue;
		b->key_size = 0;
		sum += size;
	}
	share_maps(plan);
}

/* ---- clauses ---- */

#define MAX_RECORD (1u << 20)

/* Where each datum is: numbers and objects at fixed offsets, then the strings at their actual
 * length. */
static int place_part(struct dt_plan_clause *x, uint32_t k, dt_error *err)
{
	const dt_record_part *part = &x->record.parts[k];
	struct dt_plan_part *to = &x->parts[k];
	uint64_t at = x->record.has_control ? sizeof(struct dt_part_rec) : REC_HEADER, strings = 0;

	for (uint32_t i = part->first; i < part->first + part->nactions; i++) {
		const dt_action *a = &x->c->actions[i];
		struct dt_plan_action *p = &x->plan[i];

		p->what = &x->record.actions[i];
		if (p->what->role != DT_ROLE_DATA)
			continue;
		if (p->what->is_string) {
			strings += dt_align_up(p->what->bound, 8);
			to->has_strings = true;
			at = dt_align_up(at, 4);
			p->offset = (uint32_t)at;
			at += 4;
		} else {
			at = dt_align_up(at, a->align > 1 && a->align <= 8 ? a->align
					     : a->size >= 8		   ? 8
									   : 1);
			p->offset = (uint32_t)at;
			at += a->size;
		}
		if (at + strings > MAX_RECORD)
			return dt_err(err, EDT_BUFTOOSMALL, NULL);
	}
	to->fixed = (uint32_t)dt_align_up(at, 8);
	to->size = part->cost ? to->fixed + (uint32_t)strings : 0;
	x->size = to->size > x->size ? to->size : x->size;
	return 0;
}

static int place_record(dt_plan *plan, struct dt_plan_clause *x, dt_error *err)
{
	x->parts = dt_arena_alloc(plan->arena, x->record.nparts * sizeof(*x->parts));
	for (uint32_t k = 0; k < x->record.nparts; k++)
		if (place_part(x, k, err) < 0)
			return -1;
	return 0;
}

static int plan_clause(dt_plan *plan, struct dt_plan_clause *x, dt_error *err)
{
	const dt_clause *c = x->c;
	const char *refused = dt_clause_refused(c);

	if (refused)
		return dt_err(err, EDT_DESTRUCTIVE,
			      "%s() is not available: no Linux kernel lets a BPF program do it",
			      refused);
	if (dt_record_plan_make(&x->record, c, plan->arena, err) < 0)
		return -1;
	x->plan = dt_arena_alloc(plan->arena, (c->nactions + 1) * sizeof(*x->plan));
	if (c->nactions > plan->max_actions)
		plan->max_actions = c->nactions;
	for (uint32_t i = 0; i < c->nactions; i++)
		if (x->record.actions[i].role == DT_ROLE_AGG && plan_agg(plan, x, i, err) < 0)
			return -1;
	return place_record(plan, x, err);
}

static int by_probe_id(const void *a, const void *b)
{
	uint32_t x = (*(const dt_ecb *const *)a)->probe->id,
		 y = (*(const dt_ecb *const *)b)->probe->id;

	return x < y ? -1 : x > y;
}

/* Probes are entered in order of id, whatever the order of the clauses: those of one event fire in this order. */
static void collect_probes(dt_plan *plan, const struct dt_engine_env *env)
{
	const dt_ecb **v = dt_xcalloc(env->necbs + 1, sizeof(*v));

	for (uint32_t i = 0; i < env->necbs; i++)
		v[i] = &env->ecbs[i];
	qsort(v, env->necbs, sizeof(*v), by_probe_id);
	for (uint32_t i = 0; i < env->necbs; i++)
		if (i == 0 || v[i]->probe != v[i - 1]->probe)
			dt_plan_probe_index(plan, v[i]);
	free(v);
}

/* The clauses that are or may become enabled on a probe, in the order of the program. */
static void collect_clauses(dt_plan *plan, const struct dt_engine_env *env)
{
	uint32_t at = 0;

	collect_probes(plan, env);
	for (uint32_t i = 0; i < env->nclauses; i++) {
		struct dt_plan_clause *x;

		if (!env->clauses[i].kinds &&
		    (at == env->necbs || env->ecbs[at].clause != env->clauses[i].clause))
			continue;
		x = dt_vec_add(&plan->clauses, NULL);
		x->c = env->clauses[i].clause;
		x->kinds = x->grow_kinds = env->clauses[i].kinds;
		plan->grows = plan->grows || x->grow_kinds;
		while (at < env->necbs && env->ecbs[at].clause == x->c)
			at++;
	}
	dt_plan_ecb_room(plan);
	at = 0;
	for (uint32_t i = 0; i < env->necbs; i++) {
		while (plan->clauses.v[at].c != env->ecbs[i].clause)
			at++;
		dt_plan_set_ecb(plan, at, dt_plan_probe_index(plan, &env->ecbs[i]), &env->ecbs[i]);
	}
}

#define SMALL_BUFSIZE 65536
#define LOSSLESS_BUFSIZE 16384
#define LOSSLESS_RECORDS 8 /* that fit at least */

/* With the fill policy, space is reserved for END's records. */
static int check_buffer(dt_plan *plan, dt_error *err)
{
	dt_buffer_plan b;

	dt_buffer_plan_init(&b, plan->opts);
	for (uint32_t i = 0; i < plan->clauses.n; i++) {
		const struct dt_plan_clause *x = &plan->clauses.v[i];

		plan->has_error = plan->has_error || x->kinds & 1u << PK_ERROR;
		if (dt_buffer_plan_add(&b, &x->record, x->kinds & 1u << PK_END, err) < 0)
			return -1;
	}
	if (dt_buffer_plan_check(&b, err) < 0)
		return -1;
	plan->buffers.lossless = dt_opt(plan->opts, DT_O_POLICY) == DT_POLICY_LOSSLESS;
	if (plan->buffers.lossless) { /* half of it is for what comes after a process was told to stop */
		b.size = b.size < LOSSLESS_BUFSIZE ? LOSSLESS_BUFSIZE : b.size;
		b.size = b.size < LOSSLESS_RECORDS * b.largest ? LOSSLESS_RECORDS * b.largest : b.size;
	}
	plan->buffers.size = b.size;
	plan->buffers.end_reserve = b.end_reserve;
	plan->buffers.small =
	    (!plan->buffers.lossless && (b.size < SMALL_BUFSIZE || b.largest > b.size) &&
	     plan->buffers.policy != DT_BUFPOLICY_RING) ||
	    plan->buffers.policy == DT_BUFPOLICY_FILL; /* END's records need their room */
	plan->buffers.eager &= plan->buffers.policy == DT_BUFPOLICY_SWITCH && !plan->buffers.small;
	return 0;
}

/* Which features of the kernel are probed depends on what is enabled. */
static void find_features(dt_plan *plan)
{
	bool user = plan->nevents[PK_UPROBE] || plan->nevents[PK_URETPROBE] || plan->grows,
	     functions = plan->nevents[PK_FUNC_ENTRY] || plan->nevents[PK_FUNC_RETURN] ||
			 plan->nevents[PK_INSTRUCTION];

	dt_features_find(&plan->features, plan->arena, functions, plan->types);
	if (user) /* now: probes that join later must be able to rely on the answer */
		dt_plan_can(plan, UPROBE_MULTI);
	plan->follows = user && dt_opt(plan->opts, DT_O_FOLLOW) != 0;
}

int dt_plan_make(dt_plan *plan, const struct dt_engine_env *env, uint32_t ncpus, dt_error *err)
{
	int rc = 0;

	*plan =
	    (dt_plan){.opts = env->opts,
		      .types = env->types,
		      .kfuncs = env->kfuncs,
		      .arena = dt_arena_new(),
		      .strsize = dt_opt(env->opts, DT_O_STRSIZE) + 1,
		      .ncpus = ncpus,
		      .nspecs = (uint32_t)dt_opt(env->opts, DT_O_NSPEC),
		      .buffers.eager = env->eager,
		      .buffers.policy = (enum dt_opt_bufpolicy)dt_opt(env->opts, DT_O_BUFPOLICY),
		      .seen = dt_map_new()};
	collect_clauses(plan, env);
	for (uint32_t i = 0; rc == 0 && i < plan->clauses.n; i++)
		rc = plan_clause(plan, &plan->clauses.v[i], err);
	if (rc < 0 || check_buffer(plan, err) < 0)
		return -1;
	place_aggs(plan);
	dt_plan_bodies(plan);
	find_features(plan);
	if (dt_plan_functions(plan, err) < 0)
		return -1;
	dt_plan_events(plan);
	dt_plan_vars(plan);
	dt_plan_shedding(plan);
	dt_plan_programs(plan);
	return 0;
}

void dt_plan_free(dt_plan *plan)
{
	for (uint32_t i = 0; i < plan->clauses.n; i++)
		free(plan->clauses.v[i].ecbs);
	dt_vec_free(&plan->clauses);
	dt_vec_free(&plan->progs);
	dt_vec_free(&plan->probes);
	dt_vec_free(&plan->prologues);
	dt_vec_free(&plan->aggs);
	dt_vec_free(&plan->bodies);
	dt_map_free(plan->seen);
	dt_arena_free(plan->arena);
}

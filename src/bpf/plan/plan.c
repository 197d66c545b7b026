/*
 * plan: from ECBs to what the kernel will run.
 *
 * ECBs come clause by clause. Here they become a list of distinct clauses and a list of distinct
 * probes, so that code is made once per clause however many probes it is on. Which values are data
 * of the record, keys of an aggregation, or only effects is planned for both engines in
 * engine/record_plan.c; the layout of the record is our own:
 *
 *	header | numbers and objects at fixed offsets, a u32 for each string | the strings
 *
 * The strings are appended as long as they are, each at the offset its u32 says. Keys of an
 * aggregation have one layout for all clauses that use it: every part as large as the largest.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bpf/image.h"
#include "dif/quantize.h"

/* ---- probes ---- */

/* Probes of one kind and group can share a program: one that reads an argument may not be attached to a
 * tracepoint that has fewer. Those with prologues have programs of their own, where arguments are in the slot. */
#define PROLOGUES_PER_PROGRAM 64

static uint32_t prologue_group(const dt_engine *e, const struct dt_plan_probe *x)
{
	uint32_t group = 1 + (x->prologue - 1) / PROLOGUES_PER_PROGRAM;

	if (x->kind != PK_ENTRY && x->kind != PK_RETURN)
		return group << 8;
	/* One program has one probe for each system call. */
	for (uint32_t i = 0; i < e->probes.n; i++) {
		const struct dt_plan_probe *o = &e->probes.v[i];

		if (o != x && o->kind == x->kind && o->event == x->event && o->group >> 8 >= group)
			group = (o->group >> 8) + 1;
	}
	return group << 8;
}

static void group_probe(dt_engine *e, struct dt_plan_probe *x)
{
	dt_type *f = NULL;

	if (x->kind == PK_TRACEPOINT && e->types)
		f = dt_tracepoint_type(e->types, x->at.event);
	if (f && f->nparams > 1)
		x->nargs = f->nparams - 1;
	x->group = x->nargs + (x->at.task_arg << 4);
	if (x->prologue)
		x->group += prologue_group(e, x);
}

/* One event of a probe. */
static void add_event(dt_engine *e, const dt_probe *p, const dt_event *ev, bool more)
{
	struct dt_plan_probe *x = dt_vec_add(&e->probes, NULL);

	x->probe = p;
	x->at = ev->at;
	x->kind = (enum dt_probe_kind)x->at.kind;
	x->event = x->kind == PK_ENTRY || x->kind == PK_RETURN ? (uint32_t)x->at.number
							       : e->nevents[x->kind]++;
	x->more = more;
	if (ev->prologue)
		x->prologue = dt_plan_prologue_add(e, ev->prologue);
	group_probe(e, x);
}

uint32_t dt_plan_probe_index(dt_engine *e, const dt_ecb *ecb)
{
	uint32_t first = e->probes.n;
	char key[16];
	void *known;

	snprintf(key, sizeof(key), "%u", ecb->probe->id);
	known = dt_map_get(e->seen, key);
	if (known)
		return (uint32_t)(uintptr_t)known - 1;
	for (uint32_t i = 0; i < ecb->events->n; i++)
		add_event(e, ecb->probe, &ecb->events->v[i], i + 1 < ecb->events->n);
	dt_map_set(e->seen, key, (void *)(uintptr_t)(first + 1));
	return first;
}

/* ---- aggregations ---- */

struct dt_plan_agg *dt_plan_agg_find(dt_engine *e, const dt_agg *agg)
{
	struct dt_plan_agg *x;

	for (uint32_t i = 0; i < e->aggs.n; i++)
		if (e->aggs.v[i]->agg == agg)
			return e->aggs.v[i];
	x = dt_arena_alloc(e->arena, sizeof(*x));
	x->agg = agg;
	x->fd = -1;
	x->nkeys = UINT32_MAX;
	*dt_vec_add(&e->aggs, NULL) = x;
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
static int plan_agg(dt_engine *e, struct dt_plan_clause *x, uint32_t i, dt_error *err)
{
	const dt_clause *c = x->c;
	const dt_agg *agg = x->record.actions[i].agg;
	uint32_t n = c->actions[i].ntuple;
	struct dt_plan_agg *b = dt_plan_agg_find(e, agg);
	bool first = b->nkeys == UINT32_MAX;

	if (first) {
		b->nkeys = n - 1;
		b->keys = dt_arena_alloc(e->arena, n * sizeof(*b->keys));
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
		if (x->record.actions[at].bound > key->size)
			key->size = x->record.actions[at].bound;
	}
	return 0;
}

static void place_keys(struct dt_plan_agg *b)
{
	uint32_t at = 4; /* behind the generation */

	for (uint32_t k = 0; k < b->nkeys; k++) {
		struct dt_plan_aggkey *key = &b->keys[k];

		if (key->name >= 0)
			key->size = 4;
		key->offset = at;
		at = (uint32_t)dt_align_up(at + key->size, 4);
	}
	b->key_size = b->nkeys ? at : 0;
}

/* ---- clauses ---- */

#define MAX_RECORD (1u << 20)

/* Where each datum is: numbers and objects at fixed places, then the strings, as long as they are. */
static int place_record(struct dt_plan_clause *x, dt_error *err)
{
	uint64_t at = REC_HEADER, strings = 0;

	for (uint32_t i = 0; i < x->c->nactions; i++) {
		const dt_action *a = &x->c->actions[i];
		struct dt_plan_action *p = &x->plan[i];

		p->what = &x->record.actions[i];
		if (p->what->role != DT_ROLE_DATA)
			continue;
		if (p->what->is_string) {
			strings += dt_align_up(p->what->bound, 8);
			x->has_strings = true;
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
	x->fixed = (uint32_t)dt_align_up(at, 8);
	x->size = x->record.cost ? x->fixed + (uint32_t)strings : 0;
	return 0;
}

static int plan_clause(dt_engine *e, struct dt_plan_clause *x, dt_error *err)
{
	const dt_clause *c = x->c;
	const char *refused = dt_clause_refused(c);

	if (refused)
		return dt_err(err, EDT_DESTRUCTIVE,
			      "%s() is not available: no Linux kernel lets a BPF program do it",
			      refused);
	if (dt_record_plan_make(&x->record, c, e->arena, err) < 0)
		return -1;
	x->plan = dt_arena_alloc(e->arena, (c->nactions + 1) * sizeof(*x->plan));
	if (c->nactions > e->max_actions)
		e->max_actions = c->nactions;
	for (uint32_t i = 0; i < c->nactions; i++)
		if (x->record.actions[i].role == DT_ROLE_AGG && plan_agg(e, x, i, err) < 0)
			return -1;
	return place_record(x, err);
}

/* ---- variables ---- */

static struct dt_plan_scope *scope_of(dt_engine *e, int scope)
{
	return scope == DT_SCOPE_GLOBAL	  ? &e->globals
	       : scope == DT_SCOPE_THREAD ? &e->threads
					  : &e->locals;
}

struct dt_plan_var *dt_plan_var_find(dt_engine *e, int scope, uint32_t id)
{
	struct dt_plan_scope *s = scope_of(e, scope);

	return id >= DT_VAR_USER_MIN && id - DT_VAR_USER_MIN < s->n ? &s->v[id - DT_VAR_USER_MIN]
								    : NULL;
}

static void count_vars(dt_engine *e, const dt_difo *d)
{
	for (uint32_t i = 0; d && i < d->nvars; i++) {
		struct dt_plan_scope *s = scope_of(e, d->vars[i].scope);

		if (d->vars[i].id >= DT_VAR_USER_MIN && d->vars[i].id - DT_VAR_USER_MIN >= s->n)
			s->n = d->vars[i].id - DT_VAR_USER_MIN + 1;
	}
}

static void type_vars(dt_engine *e, const dt_difo *d)
{
	for (uint32_t i = 0; d && i < d->nvars; i++) {
		const dt_difvar *v = &d->vars[i];
		struct dt_plan_var *x = dt_plan_var_find(e, v->scope, v->id);
		uint32_t size = v->type.size;

		if (!x)
			continue;
		x->seen = true;
		x->array = x->array || v->kind == DT_VAR_ARRAY;
		if (!(v->type.flags & (DT_TF_BYREF | DT_TF_BYUREF)))
			continue;
		x->byref = true;
		x->user = v->type.flags & DT_TF_BYUREF;
		x->string = v->type.kind == DT_TYPE_STRING;
		if (x->string && (size == 0 || size > e->strsize))
			size = (uint32_t)e->strsize;
		if (size > x->size)
			x->size = size;
	}
}

static void each_difo(dt_engine *e, void (*f)(dt_engine *e, const dt_difo *d))
{
	for (uint32_t i = 0; i < e->clauses.n; i++)
		DT_EACH_DIFO(it, e->clauses.v[i].c)
			f(e, it.difo);
	for (uint32_t i = 0; i < e->prologues.n; i++) {
		f(e, e->prologues.v[i].when);
		for (uint32_t k = 0; k < DT_ATTACH_ARGS; k++)
			f(e, e->prologues.v[i].arg[k]);
	}
}

static void plan_vars(dt_engine *e)
{
	struct dt_plan_scope *scopes[] = {&e->globals, &e->threads, &e->locals};

	each_difo(e, count_vars);
	for (size_t i = 0; i < DT_NELEM(scopes); i++) {
		scopes[i]->v = dt_arena_alloc(e->arena, (scopes[i]->n + 1) * sizeof(*scopes[i]->v));
		for (uint32_t k = 0; k < scopes[i]->n; k++)
			scopes[i]->v[k].fd = -1;
	}
	each_difo(e, type_vars);
}

/* ---- programs: one per kind and run of clauses ---- */

/* The kernel allows 256 functions in a program; clauses, ERROR's and subroutines share them. */
#define CLAUSES_PER_PROGRAM 160

bool dt_plan_serves(const dt_engine *e, const struct dt_plan_prog *p, uint32_t probe)
{
	const struct dt_plan_probe *x = &e->probes.v[probe];

	return x->kind == p->kind && x->group == p->group &&
	       (p->only == UINT32_MAX || p->only == probe);
}

/* More of these may come: programs for them have all clauses that can ever be on one. */
static bool may_join(const dt_engine *e, const struct dt_plan_prog *p, uint32_t clause)
{
	return e->clauses.v[clause].grow_kinds & 1u << p->kind && p->group == 0;
}

static bool clause_served(const dt_engine *e, const struct dt_plan_prog *p, uint32_t clause)
{
	if (may_join(e, p, clause))
		return true;
	for (uint32_t i = 0; i < e->probes.n; i++)
		if (e->clauses.v[clause].ecbs[i] && dt_plan_serves(e, p, i))
			return true;
	return false;
}

/* One program like this, or as many as its clauses need. */
static void add_like(dt_engine *e, const struct dt_plan_prog *like)
{
	struct dt_plan_prog *p = NULL;

	for (uint32_t i = 0; i < e->clauses.n; i++) {
		if (!(e->clauses.v[i].kinds & 1u << like->kind) || !clause_served(e, like, i))
			continue;
		if (!p || p->nclauses == CLAUSES_PER_PROGRAM) {
			bool rest = p != NULL;

			p = dt_vec_add(&e->progs, NULL);
			*p = *like;
			p->rest = rest;
			p->used = dt_arena_alloc(e->arena, sizeof(uint32_t));
			p->clauses =
			    dt_arena_alloc(e->arena, CLAUSES_PER_PROGRAM * sizeof(uint32_t));
		}
		p->clauses[p->nclauses++] = i;
	}
}

void dt_plan_add_programs(dt_engine *e, uint32_t probe, bool alone)
{
	const struct dt_plan_probe *x = &e->probes.v[probe];

	add_like(e, &(struct dt_plan_prog){.kind = x->kind,
					   .group = x->group,
					   .nargs = x->nargs,
					   .task_arg = x->at.task_arg,
					   .prologues = x->prologue != 0,
					   .only = alone ? probe : UINT32_MAX,
					   .fd_table = -1,
					   .fd = -1});
}

static bool has_program(const dt_engine *e, uint32_t probe)
{
	for (uint32_t i = 0; i < e->progs.n; i++)
		if (dt_plan_serves(e, &e->progs.v[i], probe))
			return true;
	return false;
}

/* Can the program find out which of its probes fired? If not, each has its own. So has one that is about another
 * thread: the kernel trusts the pointer to it only if it knows the event when it loads the program. */
static bool told_apart(const dt_engine *e, const struct dt_plan_probe *x)
{
	if (dt_plan_is_function(x->kind))
		return HOW(x->group) != HOW_FENTRY;
	return x->kind != PK_TRACEPOINT || (e->has_cookies && !x->at.task_arg);
}

/* Kind by kind, in the order that they are attached in. */
static void plan_programs(dt_engine *e)
{
	for (int k = 0; k < PK_MAX; k++)
		for (uint32_t i = 0;
		     k != PK_ERROR && e->nevents[k] + (k == PK_ENTRY || k == PK_RETURN) &&
		     i < e->probes.n;
		     i++)
			if (e->probes.v[i].kind == (enum dt_probe_kind)k && !has_program(e, i))
				dt_plan_add_programs(e, i, !told_apart(e, &e->probes.v[i]));
}

/* For probes of a kind that there are none of yet. */
static void plan_lazy_programs(dt_engine *e)
{
	static const enum dt_probe_kind kinds[] = {PK_UPROBE, PK_URETPROBE};

	for (size_t k = 0; k < DT_NELEM(kinds); k++) {
		bool has = false;

		for (uint32_t i = 0; i < e->progs.n; i++)
			has = has || (e->progs.v[i].kind == kinds[k] && e->progs.v[i].group == 0);
		if (!has)
			add_like(e, &(struct dt_plan_prog){.kind = kinds[k],
							   .only = UINT32_MAX,
							   .lazy = true,
							   .fd_table = -1,
							   .fd = -1});
	}
}

/* ---- programs that are too large ----
 *
 * The kernel allows 64 maps and 256 functions in a program. The time it takes to load one grows
 * with the square of its size, because each instruction it rewrites moves all others.
 *
 * What does not fit goes on in the next program, called as the last thing (a tail call) so that it is still the same
 * firing: the time, clause-local variables, the text of strtok(). Where a kind of program cannot do that (one that
 * may sleep, one whose event the kernel binds when it is loaded), or after as many as the kernel lets follow each
 * other, the next one is attached to the same event on its own, and goes on if it finds its slot as it was left.
 */
#define MAX_MAPS      38 /* of variables and aggregations; the others are ours, and ring buffers */
#define MAX_FUNCTIONS 250
#define MAX_CODE      16000

static bool is_first(dt_map *seen, const void *what)
{
	char key[32];

	snprintf(key, sizeof(key), "%p", what);
	if (dt_map_get(seen, key))
		return false;
	dt_map_set(seen, key, seen);
	return true;
}

/* The maps of one clause; those of seen variables and aggregations are counted once. */
static uint32_t count_maps(dt_engine *e, const struct dt_plan_clause *x, dt_map *seen)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->c->nactions; i++)
		if (x->plan[i].agg && x->plan[i].agg->nkeys)
			n += is_first(seen, x->plan[i].agg);
	DT_EACH_DIFO(it, x->c)
		for (uint32_t v = 0; v < it.difo->nvars; v++) {
			const dt_difvar *dv = &it.difo->vars[v];
			const struct dt_plan_var *var = dt_plan_var_find(e, dv->scope, dv->id);

			if (var && var->array)
				n += is_first(seen, var);
		}
	return n;
}

static uint32_t maps_of(dt_engine *e, const struct dt_plan_prog *p)
{
	dt_map *seen = dt_map_new();
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nclauses; i++)
		n += count_maps(e, &e->clauses.v[p->clauses[i]], seen);
	for (uint32_t i = 0; i < e->clauses.n; i++)
		if (e->clauses.v[i].kinds & 1u << PK_ERROR)
			n += count_maps(e, &e->clauses.v[i], seen);
	dt_map_free(seen);
	return n;
}

#define MAX_TAIL_CALLS 32 /* the kernel's limit is 33 */

bool dt_plan_continues(const struct dt_plan_prog *p)
{
	uint32_t n = 0;

	if (p->kind > PK_TRACEPOINT || p->task_arg)
		return false;
	while (p[-(int)n].rest)
		n++;
	return n % (MAX_TAIL_CALLS + 1) != 0;
}

bool dt_plan_has_rest(const dt_engine *e, const struct dt_plan_prog *p)
{
	return p + 1 < e->progs.v + e->progs.n && p[1].rest;
}

bool dt_plan_is_continued(const dt_engine *e, const struct dt_plan_prog *p)
{
	return dt_plan_has_rest(e, p) && dt_plan_continues(p + 1);
}

/*
 * The n-th program to attach. The kernel calls those at a tracepoint in the order they were attached in; at a place in user
 * code or a kernel function the last one comes first. So there the parts of a program are attached from the last to the first.
 */
struct dt_plan_prog *dt_plan_nth_to_attach(const dt_engine *e, uint32_t n)
{
	uint32_t first = n, last = n;

	if (e->progs.v[n].kind <= PK_TRACEPOINT)
		return &e->progs.v[n];
	while (e->progs.v[first].rest)
		first--;
	while (dt_plan_has_rest(e, &e->progs.v[last]))
		last++;
	return &e->progs.v[first + last - n];
}

bool dt_plan_split(dt_engine *e, uint32_t prog, const dt_code *c)
{
	struct dt_plan_prog *p = &e->progs.v[prog], half = *p;

	if (p->nclauses < 2 ||
	    (c->insns.n < MAX_CODE && c->funcs.n < MAX_FUNCTIONS && maps_of(e, p) < MAX_MAPS))
		return false;
	half.nclauses = p->nclauses / 2;
	p->clauses += half.nclauses;
	p->nclauses -= half.nclauses;
	p->rest = true;
	dt_vec_add(&e->progs, NULL);
	memmove(e->progs.v + prog + 1, e->progs.v + prog,
		(e->progs.n - prog - 1) * sizeof(*e->progs.v));
	e->progs.v[prog] = half;
	return true;
}

static int by_probe_id(const void *a, const void *b)
{
	uint32_t x = (*(const dt_ecb *const *)a)->probe->id,
		 y = (*(const dt_ecb *const *)b)->probe->id;

	return x < y ? -1 : x > y;
}

/* Probes are entered in order of id, whatever the order of the clauses: those of one event fire in this order. */
static void collect_probes(dt_engine *e)
{
	const dt_ecb **v = dt_xcalloc(e->necbs + 1, sizeof(*v));

	for (uint32_t i = 0; i < e->necbs; i++)
		v[i] = &e->ecbs[i];
	qsort(v, e->necbs, sizeof(*v), by_probe_id);
	for (uint32_t i = 0; i < e->necbs; i++)
		if (i == 0 || v[i]->probe != v[i - 1]->probe)
			dt_plan_probe_index(e, v[i]);
	free(v);
}

void dt_plan_ecb_room(dt_engine *e)
{
	uint32_t room = e->ecb_room;

	if (e->probes.n <= room)
		return;
	e->ecb_room = e->grows ? e->probes.n * 2 + 64 : e->probes.n;
	for (uint32_t i = 0; i < e->clauses.n; i++) {
		struct dt_plan_clause *x = &e->clauses.v[i];

		x->ecbs = dt_xrealloc(x->ecbs, e->ecb_room * sizeof(*x->ecbs));
		memset(x->ecbs + room, 0, (e->ecb_room - room) * sizeof(*x->ecbs));
	}
}

void dt_plan_set_ecb(dt_engine *e, uint32_t clause, uint32_t probe, const dt_ecb *ecb)
{
	do {
		e->clauses.v[clause].kinds |= 1u << e->probes.v[probe].kind;
		e->clauses.v[clause].ecbs[probe] = ecb;
	} while (e->probes.v[probe++].more);
}

/* The clauses that are on a probe or may get on one, in the order of the program. */
static void collect_clauses(dt_engine *e, const struct dt_engine_env *env)
{
	uint32_t at = 0;

	collect_probes(e);
	for (uint32_t i = 0; i < env->nclauses; i++) {
		struct dt_plan_clause *x;

		if (!env->clauses[i].kinds &&
		    (at == e->necbs || e->ecbs[at].clause != env->clauses[i].clause))
			continue;
		x = dt_vec_add(&e->clauses, NULL);
		x->c = env->clauses[i].clause;
		x->kinds = x->grow_kinds = env->clauses[i].kinds;
		e->grows = e->grows || x->grow_kinds;
		while (at < e->necbs && e->ecbs[at].clause == x->c)
			at++;
	}
	dt_plan_ecb_room(e);
	at = 0;
	for (uint32_t i = 0; i < e->necbs; i++) {
		while (e->clauses.v[at].c != e->ecbs[i].clause)
			at++;
		dt_plan_set_ecb(e, at, dt_plan_probe_index(e, &e->ecbs[i]), &e->ecbs[i]);
	}
}

#define SMALL_BUFSIZE 65536

/* Every record must fit; with the fill policy END's records have room set aside. */
static int check_buffer(dt_engine *e, dt_error *err)
{
	dt_buffer_plan b;

	dt_buffer_plan_init(&b, e->opts);
	for (uint32_t i = 0; i < e->clauses.n; i++)
		if (dt_buffer_plan_add(&b, &e->clauses.v[i].record,
				       e->clauses.v[i].kinds & 1u << PK_END, err) < 0)
			return -1;
	e->bufsize = b.size;
	e->end_reserve = b.end_reserve;
	e->small = e->bufsize < SMALL_BUFSIZE && e->policy != DT_BUFPOLICY_RING;
	return dt_buffer_plan_check(&b, err);
}

int dt_plan_make(dt_engine *e, const struct dt_engine_env *env, dt_error *err)
{
	int rc = 0;

	e->ecbs = env->ecbs;
	e->necbs = env->necbs;
	e->seen = dt_map_new();
	collect_clauses(e, env);
	for (uint32_t i = 0; rc == 0 && i < e->clauses.n; i++)
		rc = plan_clause(e, &e->clauses.v[i], err);
	if (rc < 0 || check_buffer(e, err) < 0)
		return -1;
	for (uint32_t i = 0; i < e->aggs.n; i++) {
		place_keys(e->aggs.v[i]);
		if (e->aggs.v[i]->key_size > e->need.agg_key)
			e->need.agg_key = e->aggs.v[i]->key_size;
		if ((e->aggs.v[i]->nwords + 1) * 8 > e->need.zeros)
			e->need.zeros = (e->aggs.v[i]->nwords + 1) * 8;
	}
	if (e->nevents[PK_UPROBE] || e->nevents[PK_URETPROBE] || e->grows) {
		e->has_uprobe_multi = dt_attach_has_uprobe_multi();
		e->follows = dt_opt(e->opts, DT_O_FOLLOW) != 0;
	}
	if (dt_plan_functions(e, err) < 0)
		return -1;
	plan_vars(e);
	plan_programs(e);
	if (e->grows)
		plan_lazy_programs(e);
	for (uint32_t i = 0; i < e->clauses.n; i++)
		e->need.error = e->need.error || e->clauses.v[i].kinds & 1u << PK_ERROR;
	return 0;
}

/*
 * record_plan: the rules of records, see record_plan.h.
 */
#include <stdlib.h>

#include "engine/record_plan.h"

#define MAX_DATA (UINT32_MAX / 2)

static const dt_agg *agg_of_action(const dt_clause *c, uint32_t action)
{
	for (uint32_t i = 0; i < c->nstmts; i++) {
		const dt_stmt *s = &c->stmts[i];

		if (s->kind == DT_ST_AGG && s->naggs && action >= s->first &&
		    action - s->first < s->nactions)
			return s->aggs[0];
	}
	return NULL;
}

/* A string of type size N has up to N characters, and we keep a NUL after them. */
static uint32_t bound_of(const dt_action *a)
{
	uint32_t n;

	if (!dt_datum_is_string(a))
		return a->size;
	n = a->difo->bound;
	return n == 0 || n > a->size ? (a->size < MAX_DATA ? a->size + 1 : a->size) : n;
}

/* The aggregating action i, and the tuple before it: the id, then the keys. */
static int plan_agg(dt_record_plan *p, const dt_clause *c, uint32_t i, dt_error *err)
{
	uint32_t n = c->actions[i].ntuple;
	const dt_agg *agg = agg_of_action(c, i);

	if (n == 0 || n > i || !agg)
		return dt_err(err, EDT_BADAGG, NULL);
	p->actions[i].role = DT_ROLE_AGG;
	p->actions[i].agg = agg;
	for (uint32_t k = 0; k < n; k++) {
		struct dt_action_plan *x = &p->actions[i - n + k];

		x->role = k == 0 ? DT_ROLE_KEY_ID : DT_ROLE_KEY;
		x->key = k == 0 ? 0 : k - 1;
		x->agg = agg;
	}
	return 0;
}

static bool has_default_action(const dt_clause *c)
{
	return c->nactions == 0 ||
	       (c->nactions == 1 && dt_act(c->actions[0].kind)->effect == DT_EFFECT_SPECULATE);
}

static const dt_stmt *stmt_at(const dt_clause *c, uint32_t action)
{
	for (uint32_t i = 0; i < c->nstmts; i++)
		if (c->stmts[i].first == action && c->stmts[i].nactions)
			return &c->stmts[i];
	return NULL;
}

/* What an action takes of the user's buffer: its datum, or a word where DTrace records one. */
static uint64_t bytes_of(const dt_clause *c, uint32_t i)
{
	const dt_action *a = &c->actions[i];
	const dt_stmt *s = stmt_at(c, i);

	if (s && s->kind == DT_ST_PRINTA)
		return a->size + 8ull * s->naggs;
	if (s && (s->kind == DT_ST_NORMALIZE || s->kind == DT_ST_TRUNC))
		return 8 + (a->size ? a->size : 8);
	return a->size || !dt_act(a->kind)->always_recorded ? a->size : 8;
}

/* A record as the user's buffer size counts it: see record_plan.h. */
struct counted {
	uint64_t at, align;
};

static void count(struct counted *r, uint64_t bytes)
{
	uint64_t align = 8;

	if (!bytes)
		return;
	while (bytes % align)
		align /= 2;
	r->at = dt_align_up(r->at, align) + bytes;
	r->align = align > r->align ? align : r->align;
}

static int place_data(dt_record_plan *p, dt_record_part *part, const dt_clause *c, dt_error *err)
{
	struct counted counted = {.at = DT_RECORD_HEADER, .align = 4};
	bool records = has_default_action(c);
	uint64_t size = 0;

	for (uint32_t i = part->first; i < part->first + part->nactions; i++) {
		const dt_action *a = &c->actions[i];
		struct dt_action_plan *x = &p->actions[i];

		if (x->role != DT_ROLE_EFFECT)
			continue;
		records = records || a->size || dt_act(a->kind)->always_recorded;
		count(&counted, bytes_of(c, i));
		if (!a->size)
			continue;
		size = dt_align_up(size, a->align > 1 ? a->align : 1);
		x->role = DT_ROLE_DATA;
		x->offset = (uint32_t)size;
		size += x->bound;
		if (size > MAX_DATA || counted.at > MAX_DATA)
			return dt_err(err, EDT_BUFTOOSMALL, NULL);
	}
	part->data_size = (uint32_t)size;
	part->cost = records ? (uint32_t)dt_align_up(counted.at, counted.align) : 0;
	p->cost = part->cost > p->cost ? part->cost : p->cost;
	return 0;
}

/* Does a speculate() hold in the part, or begin in it? */
static void mark_speculative(dt_record_plan *p, const dt_clause *c)
{
	for (uint32_t i = 0; p->speculates && i < c->nactions; i++) {
		uint64_t end = c->actions[i].arg ? c->actions[i].arg : c->nactions + 1ull;

		if (p->actions[i].effect != DT_EFFECT_SPECULATE)
			continue;
		for (uint32_t k = 0; k < p->nparts; k++)
			if (p->parts[k].first < end && p->parts[k].first + p->parts[k].nactions > i)
				p->parts[k].speculates = true;
	}
	if (c->nactions == 0 || !p->has_control)
		p->parts[0].speculates = p->speculates;
}

static void *some(dt_arena *a, size_t n, size_t size)
{
	return a ? dt_arena_alloc(a, n * size) : dt_xcalloc(n, size);
}

static int make_parts(dt_record_plan *p, const dt_clause *c, dt_arena *a, dt_error *err)
{
	bool *leads = dt_xcalloc(c->nactions + (size_t)1, sizeof(*leads));
	uint32_t n = 0;

	dt_clause_blocks(c, leads);
	for (uint32_t i = 0; i < c->nactions; i++)
		n += leads[i];
	p->nparts = n ? n : 1;
	p->parts = some(a, p->nparts, sizeof(*p->parts));
	n = 0;
	for (uint32_t i = 0; i < c->nactions; i++) {
		if (leads[i])
			p->parts[n++].first = i;
		p->parts[n - 1].nactions++;
	}
	free(leads);
	if (p->nparts > DT_PARTS_MAX)
		return dt_err(err, EDT_DIFINVAL, "a clause of more than %u blocks", DT_PARTS_MAX);
	mark_speculative(p, c);
	for (uint32_t i = 0; i < p->nparts; i++)
		if (place_data(p, &p->parts[i], c, err) < 0)
			return -1;
	return 0;
}

int dt_record_plan_make(dt_record_plan *p, const dt_clause *c, dt_arena *a, dt_error *err)
{
	*p = (dt_record_plan){.actions = some(a, c->nactions + (size_t)1, sizeof(*p->actions)),
			      .loops = dt_clause_loops(c),
			      .functions = dt_clause_functions(c),
			      .has_control = dt_clause_has_control(c)};
	for (uint32_t i = 0; i < c->nactions; i++) {
		const dt_action *act = &c->actions[i];
		const struct dt_act_desc *d = dt_act(act->kind);

		p->actions[i].payload = d->payload;
		p->actions[i].effect = d->effect;
		p->actions[i].is_string = dt_datum_is_string(act);
		p->actions[i].is_number = dt_key_is_number(act);
		p->actions[i].bound = bound_of(act);
		p->exits = p->exits || d->effect == DT_EFFECT_EXIT;
		p->speculates = p->speculates || d->effect == DT_EFFECT_SPECULATE;
		p->aggregates = p->aggregates || d->effect == DT_EFFECT_AGGREGATE;
	}
	for (uint32_t i = 0; i < c->nactions; i++)
		if (p->actions[i].effect == DT_EFFECT_AGGREGATE && plan_agg(p, c, i, err) < 0)
			return -1;
	return make_parts(p, c, a, err);
}

void dt_record_plan_free(dt_record_plan *p)
{
	free(p->actions);
	free(p->parts);
}

const char *dt_clause_refused(const dt_clause *c)
{
	for (uint32_t i = 0; i < c->nactions; i++)
		if (dt_act(c->actions[i].kind)->effect == DT_EFFECT_REFUSED)
			return dt_act_name(c->actions[i].kind);
	return NULL;
}

/* ---- the principal buffer ---- */

void dt_buffer_plan_init(dt_buffer_plan *b, const dt_options *o)
{
	uint64_t size = dt_opt(o, DT_O_BUFSIZE);

	if (!size && !o->is_set[DT_O_BUFSIZE])
		size = DT_BUFFER_DEFAULT;
	*b = (dt_buffer_plan){.size = size & ~7ull,
			      .aggsize = dt_opt(o, DT_O_AGGSIZE),
			      .reserves = dt_opt(o, DT_O_BUFPOLICY) == DT_BUFPOLICY_FILL};
}

int dt_buffer_plan_add(dt_buffer_plan *b, const dt_record_plan *r, bool at_end, dt_error *err)
{
	if (r->cost && b->size == 0)
		return dt_err(err, EDT_BUFTOOSMALL, NULL);
	b->largest = r->cost > b->largest ? r->cost : b->largest;
	b->aggregates = b->aggregates || r->aggregates;
	if (b->reserves && at_end)
		b->end_reserve += r->cost;
	return 0;
}

int dt_buffer_plan_check(dt_buffer_plan *b, dt_error *err)
{
	if (b->aggregates && b->aggsize && b->aggsize < 8)
		return dt_err(err, EDT_BUFTOOSMALL, NULL);
	if (b->aggregates && b->size < b->largest)
		b->size = dt_align_up(b->largest, 8);
	return b->end_reserve > b->size ? dt_err(err, EDT_ENDTOOBIG, NULL) : 0;
}

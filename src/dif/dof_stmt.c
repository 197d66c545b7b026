/*
 * dof_stmt: statements from the actions of a DOF file.
 *
 * DOF has actions; the consumer needs statements: which actions belong together, and which format
 * or aggregation they refer to. Our own files contain this (STATEMENTS); for others it follows from
 * the kinds of the actions: an aggregating action and its keys, a format and its arguments, memory
 * and its size. Either way the result is checked here, because the engines and the consumer rely on
 * it: every kind is known, expressions are there where they are needed, sizes fit the types.
 */
#include <stdio.h>
#include <stdlib.h>

#include "dif/dof_file.h"
#include "dif/quantize.h"
#include "dif/format.h"

#define MAX_AGGS   8192
#define MAX_DATUM  ((1u << 30) + 8) /* bytes of one datum: what the compiler allows */
#define MAX_FRAMES (1u << 20)
#define MAX_PACKET (1u << 16)

struct builder {
	dt_arena *a;
	dt_action *acts;
	const struct dof_act_info *info;
	uint32_t nacts;
	dt_dof_aggs *aggs;
	DT_VEC(dt_stmt) stmts;
	dt_error *err;
};

static int DT_PRINTF(3, 4) bad_action(struct builder *b, uint32_t i, const char *fmt, ...)
{
	char why[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return dt_err(b->err, EDT_DIFINVAL, "action %u: %s", i + 1, why);
}

/* ---- single actions ---- */

static int check_quantizer(struct builder *b, uint32_t i)
{
	const dt_action *a = &b->acts[i];

	if (a->kind == DT_ACT_LQUANTIZE &&
	    (dt_lquantize_step(a->arg) == 0 || dt_lquantize_levels(a->arg) == 0))
		return bad_action(b, i, "invalid parameters of lquantize()");
	if (a->kind == DT_ACT_LLQUANTIZE && !dt_llquantize_valid(a->arg))
		return bad_action(b, i, "invalid parameters of llquantize()");
	if (a->incr && (a->kind < DT_ACT_QUANTIZE || a->kind > DT_ACT_LLQUANTIZE))
		return bad_action(b, i, "an increment, but it is not a quantizer");
	return 0;
}

static int check_action(struct builder *b, uint32_t i)
{
	dt_action *a = &b->acts[i];
	const struct dt_act_desc *rule = dt_act_find(a->kind);
	uint64_t size;

	if (!rule)
		return bad_action(b, i, "unknown kind 0x%x", a->kind);
	if (rule->expression == DT_EXPR_YES && !a->difo)
		return bad_action(b, i, "kind 0x%x without an expression", a->kind);
	if (rule->expression == DT_EXPR_NO && a->difo)
		return bad_action(b, i, "kind 0x%x with an expression", a->kind);
	if (dt_act_is_stack(a->kind) && (a->arg & 0xffffffff) > MAX_FRAMES)
		return bad_action(b, i, "more than %u frames", MAX_FRAMES);
	if (rule->payload == DT_PAYLOAD_IMMSTACK &&
	    ((a->arg & 0xffffffff) > DT_IMMSTACK_FRAMES || !(a->arg >> 32) || a->arg >> 32 > DT_IMMSTACK_STRSIZE ||
	     (a->arg >> 32) % 8))
		return bad_action(b, i, "invalid sizes of immstack()");
	if (rule->payload == DT_PAYLOAD_PACKET && (a->arg == 0 || a->arg > MAX_PACKET))
		return bad_action(b, i, "packets of %llu bytes", (unsigned long long)a->arg);
	if (a->arg > MAX_DATUM &&
	    (rule->payload == DT_PAYLOAD_BYTES || rule->payload == DT_PAYLOAD_COUNTED))
		return bad_action(b, i, "too much memory");
	size = dt_datum_size(a, &a->align);
	if (size > MAX_DATUM)
		return bad_action(b, i, "records %llu bytes", (unsigned long long)size);
	a->size = (uint32_t)size;
	return check_quantizer(b, i);
}

/* ---- aggregations ---- */

static dt_agg *find_agg(dt_dof_aggs *as, uint32_t id, uint32_t *pos)
{
	uint32_t lo = 0, hi = as->v.n;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (as->v.v[mid]->id == id)
			return as->v.v[mid];
		if (as->v.v[mid]->id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	*pos = lo;
	return NULL;
}

static dt_agg *get_agg(struct builder *b, uint32_t id, const char *name)
{
	uint32_t pos = 0;
	dt_agg *agg = find_agg(b->aggs, id, &pos);

	if (agg)
		return agg;
	if (id == 0 || b->aggs->v.n >= MAX_AGGS) {
		dt_err(b->err, EDT_DIFINVAL, id ? "too many aggregations" : "aggregation 0");
		return NULL;
	}
	agg = dt_arena_alloc(b->a, sizeof(*agg));
	agg->id = id;
	agg->name = name ? name : dt_arena_printf(b->a, "agg%u", id);
	dt_vec_add(&b->aggs->v, b->a);
	memmove(&b->aggs->v.v[pos + 1], &b->aggs->v.v[pos],
		(b->aggs->v.n - 1 - pos) * sizeof(b->aggs->v.v[0]));
	b->aggs->v.v[pos] = agg;
	return agg;
}

/* The aggregation id is a constant: "setx id, %r1; ret %r1". */
static bool constant_of(const dt_difo *d, uint64_t *v)
{
	if (!d || d->len != 2 || DT_I_OP(d->text[0]) != DT_OP_SETX ||
	    DT_I_OP(d->text[1]) != DT_OP_RET || DT_I_RD(d->text[0]) != DT_I_RD(d->text[1]) ||
	    DT_I_INDEX(d->text[0]) >= d->intlen || d->nrelocs > 0)
		return false;
	*v = d->inttab[DT_I_INDEX(d->text[0])];
	return true;
}

static bool same_keys(const dt_agg *agg, const dt_action *keys, uint32_t n)
{
	if (agg->nkeys != n)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (agg->keys[i].kind != keys[i].kind ||
		    (agg->keys[i].size != keys[i].size &&
		     !(dt_key_is_number(&agg->keys[i]) && dt_key_is_number(&keys[i]))))
			return false;
	return true;
}

/* The keys are [first, last), the id first; the aggregating action is `last`. */
static dt_agg *define_agg(struct builder *b, uint32_t first, uint32_t last, const char *name)
{
	const dt_action *act = &b->acts[last], *keys = &b->acts[first + 1];
	uint32_t nkeys = last - first - 1;
	uint64_t id;
	dt_agg *agg;

	if (b->acts[first].kind != DT_ACT_DIFEXPR || !constant_of(b->acts[first].difo, &id) ||
	    id == 0 || id > UINT32_MAX) {
		bad_action(b, first, "not an aggregation id");
		return NULL;
	}
	for (uint32_t i = 0; i < nkeys; i++) {
		if (!dt_act(keys[i].kind)->is_key || keys[i].size == 0) {
			bad_action(b, first + 1 + i, "cannot be a key");
			return NULL;
		}
	}
	agg = get_agg(b, (uint32_t)id, name);
	if (!agg)
		return NULL;
	if (agg->func == DT_ACT_NONE) {
		agg->func = act->kind;
		agg->param = act->arg;
		agg->nkeys = nkeys;
		agg->keys = dt_arena_dup(b->a, keys, nkeys * sizeof(*keys));
		agg->nwords = dt_agg_words(agg->func, agg->param);
	} else if (agg->func != act->kind || agg->param != act->arg ||
		   !same_keys(agg, keys, nkeys)) {
		bad_action(b, last, "aggregation %u is used in two ways", agg->id);
		return NULL;
	}
	dt_agg_widen_keys(agg, keys);
	return agg;
}

/* ---- formats ---- */

/* Every conversion must find its argument; %@ takes the aggregations in turn, the last for the
 * rest. */
static int check_format(struct builder *b, dt_stmt *s, uint32_t nargs)
{
	uint32_t next = 0;

	if (s->format->nargs > nargs)
		return bad_action(b, s->first, "the format takes %u arguments, there are %u",
				  s->format->nargs, nargs);
	for (uint32_t i = 0; i < s->format->nconvs; i++) {
		dt_conv *c = &s->format->convs[i];

		if (!(c->flags & DT_CF_AGG))
			continue;
		if (s->naggs == 0)
			return bad_action(b, s->first, "%%@ without an aggregation");
		c->arg = (int)next;
		if (next + 1 < s->naggs)
			next++;
	}
	return 0;
}

static int add_format(struct builder *b, dt_stmt *s)
{
	const char *text = b->info[s->first].string;
	uint32_t nargs = 0;

	if (!text && s->kind == DT_ST_PRINTA)
		return 0;
	if (!text)
		return bad_action(b, s->first, "no format");
	s->format_text = text;
	s->format = dt_format_parse(b->a, text, strlen(text), b->err);
	if (!s->format) {
		char why[200];

		snprintf(why, sizeof(why), "%.190s", b->err->text);
		return bad_action(b, s->first, "%s", why);
	}
	/* The keys of an aggregation may only be known later: dt_dof_check_printa(). */
	if (s->kind == DT_ST_PRINTA)
		nargs = s->format->nargs;
	for (uint32_t i = s->first; s->kind != DT_ST_PRINTA && i < s->first + s->nactions; i++)
		nargs += b->acts[i].size > 0;
	return check_format(b, s, nargs);
}

int dt_dof_check_printa(const dt_stmt *s, dt_error *err)
{
	for (uint32_t i = 0; i < s->naggs; i++)
		if (s->aggs[i]->nkeys != s->aggs[0]->nkeys)
			return dt_err(err, EDT_DIFINVAL,
				      "printa() of aggregations %u and %u, which differ in keys",
				      s->aggs[0]->id, s->aggs[i]->id);
	if (s->format && s->format->nargs > (s->naggs > 0 ? s->aggs[0]->nkeys : 0))
		return dt_err(err, EDT_DIFINVAL,
			      "printa() with a format of more keys than there are");
	return 0;
}

/* ---- statements ---- */

/* How many aggregations a statement is about. */
static bool agg_count_fits(uint32_t kind, uint32_t n)
{
	switch (dt_stmts[kind].aggs) {
	case DT_AGGS_NONE: return n == 0;
	case DT_AGGS_ONE: return n == 1;
	case DT_AGGS_SOME: return n >= 1;
	}
	return false;
}

/* May the actions [first, first + n) be a statement of that kind? */
static bool actions_fit(const struct builder *b, uint32_t kind, uint32_t first, uint32_t n)
{
	const dt_action *a = &b->acts[first];
	enum dt_stmt_kind leads = dt_act(a->kind)->stmt;

	if (kind >= DT_ST_MAX)
		return false;
	if (kind == DT_ST_AGG)
		return dt_act_is_agg(a[n - 1].kind) && a[n - 1].ntuple == n - 1;
	for (uint32_t i = 0; i < n; i++) {
		const struct dt_act_desc *d = dt_act(a[i].kind);

		if (d->effect == DT_EFFECT_AGGREGATE)
			return false;
		if (i > 0 && d->stmt != leads && !d->is_key)
			return false;
	}
	if (kind == DT_ST_EXPR || kind == DT_ST_TRACE || kind == DT_ST_PRINT)
		return dt_act(a->kind)->is_key;
	return dt_act_makes(a->kind, (enum dt_stmt_kind)kind);
}

static int add_stmt(struct builder *b, uint32_t kind, uint32_t first, uint32_t n,
		    const uint32_t *ids, const char *const *names, uint32_t naggs)
{
	dt_stmt *s = dt_vec_add(&b->stmts, b->a);

	/* The type that print() needs is not in the file. */
	*s = (dt_stmt){.kind = kind == DT_ST_PRINT ? DT_ST_TRACE : (enum dt_stmt_kind)kind,
		       .first = first,
		       .nactions = n,
		       .naggs = naggs};
	s->aggs = dt_arena_alloc(b->a, (size_t)naggs * sizeof(*s->aggs));
	for (uint32_t i = 0; i < naggs; i++) {
		s->aggs[i] = get_agg(b, ids[i], names ? names[i] : NULL);
		if (!s->aggs[i])
			return -1;
	}
	if (kind == DT_ST_AGG) {
		dt_agg *agg = define_agg(b, first, first + n - 1, NULL);

		if (!agg)
			return -1;
		if (agg != s->aggs[0])
			return bad_action(b, first, "aggregates into %u, but is said to use %u",
					  agg->id, s->aggs[0]->id);
	}
	if (dt_stmts[kind].has_format)
		return b->acts[first].ntuple > n
			   ? bad_action(b, first, "more arguments than actions")
			   : add_format(b, s);
	return 0;
}

/* As stated in our own files. */
static int stmts_from_hints(struct builder *b, const struct dof_stmt_hint *hints, uint32_t nhints)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < nhints; i++) {
		const struct dof_stmt *h = &hints[i].s;

		if (h->first != at || h->nactions == 0 || h->nactions > b->nacts - at)
			return dt_err(b->err, EDT_DIFINVAL, "statement %u: not its actions", i + 1);
		if (!actions_fit(b, h->kind, at, h->nactions) || !agg_count_fits(h->kind, h->naggs))
			return dt_err(b->err, EDT_DIFINVAL,
				      "statement %u: cannot be of kind %u with these actions",
				      i + 1, h->kind);
		if (add_stmt(b, h->kind, at, h->nactions, hints[i].ids, hints[i].names, h->naggs) !=
		    0)
			return -1;
		at += h->nactions;
	}
	if (at != b->nacts)
		return bad_action(b, at, "belongs to no statement");
	return 0;
}

/* How many actions from i on are arguments of the same printf() or printa(), or size of the same
 * memory. Only the first has the format; DTrace gives all of one statement the same user argument.
 */
static uint32_t count_joined(const struct builder *b, uint32_t i)
{
	enum dt_act kind = b->acts[i].kind;
	uint32_t n = 1;

	if (kind == DT_ACT_TRACEMEM)
		return i + 1 < b->nacts && b->acts[i + 1].kind == DT_ACT_TRACEMEM_DYNSIZE ? 2 : 1;
	if (kind == DT_ACT_PCAP) /* and its link type */
		return i + 1 < b->nacts && b->acts[i + 1].kind == DT_ACT_DIFEXPR ? 2 : 1;
	if (!dt_stmts[dt_act(kind)->stmt].has_format)
		return 1;
	while (i + n < b->nacts && b->acts[i + n].kind == kind && !b->info[i + n].string &&
	       b->info[i + n].uarg == b->info[i].uarg)
		n++;
	return n;
}

static int stmt_from_kind(struct builder *b, uint32_t i, uint32_t n)
{
	enum dt_stmt_kind kind = dt_act(b->acts[i].kind)->stmt;
	uint32_t *ids = dt_arena_alloc(b->a, n * sizeof(*ids));
	uint32_t naggs = 0;
	uint64_t id;

	if (kind == DT_ST_TRACE && b->acts[i].size == 0)
		kind = DT_ST_EXPR;
	for (uint32_t k = 0; kind == DT_ST_PRINTA && k < n; k++)
		if (constant_of(b->acts[i + k].difo, &id) && id <= UINT32_MAX)
			ids[naggs++] = (uint32_t)id;
	if (!agg_count_fits(kind, naggs))
		return bad_action(b, i, "names no aggregation");
	return add_stmt(b, kind, i, n, ids, NULL, naggs);
}

/* From the kinds of the actions alone. */
static int stmts_from_kinds(struct builder *b)
{
	uint32_t *spans = dt_arena_alloc(b->a, ((size_t)b->nacts + 1) * sizeof(*spans));
	uint32_t n;

	for (uint32_t i = 0; i < b->nacts; i++) {
		n = b->acts[i].ntuple;
		if (!dt_act_is_agg(b->acts[i].kind))
			continue;
		if (n == 0 || n > i)
			return bad_action(b, i, "has %u keys before it, not %u", i, n);
		spans[i - n] = n + 1;
	}
	for (uint32_t i = 0; i < b->nacts; i += n) {
		uint64_t id = 0;
		uint32_t agg;

		n = spans[i] ? spans[i] : count_joined(b, i);
		if (!spans[i]) {
			if (dt_act_is_agg(b->acts[i].kind))
				return bad_action(b, i, "its keys belong to another one");
			if (stmt_from_kind(b, i, n) != 0)
				return -1;
			continue;
		}
		if (!actions_fit(b, DT_ST_AGG, i, n) || !constant_of(b->acts[i].difo, &id) ||
		    id > UINT32_MAX)
			return bad_action(b, i, "not an aggregation id");
		agg = (uint32_t)id;
		if (add_stmt(b, DT_ST_AGG, i, n, &agg, NULL, 1) != 0)
			return -1;
	}
	return 0;
}

int dt_dof_stmts(dt_arena *a, dt_action *acts, const struct dof_act_info *info, uint32_t nacts,
		 const struct dof_stmt_hint *hints, uint32_t nhints, dt_dof_aggs *aggs,
		 dt_stmt **out, uint32_t *nout, dt_error *err)
{
	struct builder b = {
	    .a = a, .acts = acts, .info = info, .nacts = nacts, .aggs = aggs, .err = err};

	for (uint32_t i = 0; i < nacts; i++)
		if (check_action(&b, i) != 0)
			return -1;
	if ((nhints > 0 ? stmts_from_hints(&b, hints, nhints) : stmts_from_kinds(&b)) != 0)
		return -1;
	*out = b.stmts.v;
	*nout = b.stmts.n;
	return 0;
}

/*
 * action_agg: aggregations.
 *
 *   @name[k1, k2] = func(value, ...)
 *
 * becomes these actions: the aggregation's id (a constant), the keys, and the aggregating action
 * itself, whose ntuple says that the 1 + nkeys actions before it are the tuple. None of them adds
 * to the record; `size` of a key says how many bytes of the tuple it takes. The optional increment
 * of the quantizers is the second expression of the aggregating action (incr).
 *
 * The first use of a name fixes its function, parameters and keys for the session; any other use
 * must agree. Integer keys may differ in size: they are the same row if they have the same value.
 */
#include "dif/quantize.h"
#include "lang/action.h"

/* ---- keys ---- */
dt_type *dt_key_type(dt_compiler *cc, const dt_action *key)
{
	const struct dt_intrinsics *in = dt_intrinsics(cc->types);

	switch (dt_act(key->kind)->payload) {
	case DT_PAYLOAD_STACK:
	case DT_PAYLOAD_IMMSTACK:
	case DT_PAYLOAD_USTACK: return in->stack;
	case DT_PAYLOAD_SYM: return in->symaddr;
	case DT_PAYLOAD_USYM: return in->usymaddr;
	case DT_PAYLOAD_NONE:
	case DT_PAYLOAD_VALUE:
	case DT_PAYLOAD_BYTES:
	case DT_PAYLOAD_COUNTED:
	case DT_PAYLOAD_PACKET: break;
	}
	return key->difo->type;
}

/* n as key #i of an aggregation that had `first` there at its first use. */
static dt_node *fit_key(dt_compiler *cc, const dt_agg *agg, dt_node *n, uint32_t i,
			const dt_action *first)
{
	dt_type *want = dt_key_type(cc, first);
	dt_node *fit = NULL;

	if (first->kind == DT_ACT_DIFEXPR) {
		if (dt_type_is_integer(want) && dt_type_is_integer(n->type))
			fit = n;
		else if (!dt_is_null(n) || dt_type_is_scalar(want))
			fit = dt_convert(cc, n, want);
	}
	if (!fit)
		dt_fail(cc, n->pos, D_PROTO_ARG, "key #%u of @%s is %s, but was %s before", i + 1,
			agg->name, dt_tname(cc, n->type), dt_tname(cc, want));
	return fit;
}

static void value_key(dt_compiler *cc, const dt_agg *agg, dt_node *n, uint32_t i, dt_action *out)
{
	if (agg->func != DT_ACT_NONE)
		n = fit_key(cc, agg, n, i, &agg->keys[i]);
	/* Equal values must be equal bytes: truncate to the type what arithmetic carried beyond it. */
	if (dt_type_is_integer(n->type) && n->kind != N_INT) {
		dt_node *cast = dt_node_op1(cc, '(', n);
		cast->type = cast->ctype = n->type;
		cast->flags |= NF_CHECKED;
		n = cast;
	}
	out->kind = DT_ACT_DIFEXPR;
	out->difo = dt_gen_expr(cc, n, true);
	out->size = out->difo->rtype.size;
	out->align =
	    out->difo->rtype.kind == DT_TYPE_STRING ? 1 : dt_type_align(cc->types, n->type);
	if (out->align == 0)
		out->align = 1;
}

static void action_key(dt_compiler *cc, const dt_agg *agg, dt_node *n, uint32_t i,
		       const struct dt_action_desc *d, dt_action *out)
{
	const dt_action *first = agg->func != DT_ACT_NONE ? &agg->keys[i] : NULL;

	dt_action_fill_key(cc, n, d, out);
	if (first && (first->kind != out->kind || first->arg != out->arg))
		dt_fail(cc, n->pos, D_PROTO_ARG, "key #%u of @%s is %s( ), but was %s before",
			i + 1, agg->name, d->name,
			first->kind == out->kind	 ? "one with another size"
			: dt_act_is_stack(first->kind) ? dt_act_name(first->kind)
						       : dt_tname(cc, dt_key_type(cc, first)));
}

static dt_action *compile_keys(dt_compiler *cc, const dt_agg *agg, dt_node *at, uint32_t *nkeys)
{
	uint32_t n = dt_list_len(at->args), i = 0;
	dt_action *keys = dt_arena_alloc(cc->arena, (n + 1) * sizeof(*keys));
	dt_node *next;

	for (dt_node *k = at->args; k; k = next, i++) {
		const struct dt_action_desc *d = dt_action_of(k);
		next = k->next;
		if (d)
			action_key(cc, agg, k, i, d, &keys[i]);
		else
			value_key(cc, agg, k, i, &keys[i]);
	}
	*nkeys = n;
	return keys;
}

/* ---- functions ---- */
enum { NO_WEIGHT = UINT8_MAX };

static const struct signature {
	enum dt_act func;
	uint8_t min, max; /* arguments */
	uint8_t weight;	  /* which of them is the increment */
} signatures[] = {
#define DT_AGGFUNC(name, act, least, most, weight, ...) {DT_ACT_##act, least, most, weight},
#include "dif/actions.def"
#undef DT_AGGFUNC
};

static const struct signature *signature_of(enum dt_act func)
{
	const struct signature *s = signatures;

	while (s->func != func)
		s++;
	return s;
}

static dt_difo *scalar_arg(dt_compiler *cc, dt_node *call, uint32_t i, enum dt_tag tag)
{
	dt_node *n = dt_arg(call, i), *cast;

	if (!dt_is_number(n->type))
		dt_fail(cc, n->pos, tag, "%s must be of scalar type, not %s",
			dt_arg_name(cc, call, i), dt_tname(cc, n->type));
	if (n->kind == N_INT)
		return dt_gen_expr(cc, n, true);
	cast = dt_node_op1(cc, '(', n); /* exactly a number of its type, in all 64 bits */
	cast->type = cast->ctype = n->type;
	cast->flags |= NF_CHECKED;
	return dt_gen_expr(cc, cast, true);
}

/* The aggregating action of `call`: its value, parameter and increment. */
static dt_action compile_func(dt_compiler *cc, dt_node *call, enum dt_act func, const dt_agg *agg)
{
	dt_action a = {.kind = func};
	const struct signature *sig = signature_of(func);

	dt_check_args_count(cc, call, sig->min, sig->max, D_PROTO_LEN);
	if (func == DT_ACT_LQUANTIZE)
		a.arg = dt_lquantize_args(cc, call, agg);
	if (func == DT_ACT_LLQUANTIZE)
		a.arg = dt_llquantize_args(cc, call, agg);
	if (sig->max > 0)
		a.difo = scalar_arg(cc, call, 0, D_AGG_SCALAR);
	if (sig->weight != NO_WEIGHT && dt_arg(call, sig->weight))
		a.incr = scalar_arg(cc, call, sig->weight, D_PROTO_ARG);
	return a;
}

void dt_agg_compile(dt_compiler *cc, dt_clause_builder *b, dt_node *assign)
{
	dt_node *at = assign->l, *call = assign->r;
	enum dt_act func = (enum dt_act)call->ident->id;
	dt_agg *agg = dt_agg_get(cc, at->name, at->pos)->agg;
	dt_action act, *keys, *id;
	dt_stmt *s;
	uint32_t nkeys;

	if (agg->func != DT_ACT_NONE && agg->func != func)
		dt_fail(cc, at->pos, D_AGG_REDEF, "@%s was %s( ) before: it cannot also be %s( )",
			agg->name, dt_act_name(agg->func), dt_act_name(func));
	keys = compile_keys(cc, agg, at, &nkeys);
	act = compile_func(cc, call, func, agg);
	act.ntuple = nkeys + 1;
	if (agg->func == DT_ACT_NONE) {
		agg->func = func;
		agg->param = act.arg;
		agg->keys = keys;
		agg->nkeys = nkeys;
		agg->nwords = dt_agg_words(func, act.arg);
	} else {
		dt_agg_widen_keys(agg, keys);
	}
	s = dt_stmt_add(cc, b, call, DT_ST_AGG, func);
	s->aggs = dt_arena_dup(cc->arena, &agg, sizeof(agg));
	s->naggs = 1;
	id = dt_action_add(cc, b, DT_ACT_DIFEXPR);
	id->difo = dt_gen_const(cc, agg->id, dt_intrinsics(cc->types)->int_);
	id->size = id->align = 4;
	for (uint32_t i = 0; i < nkeys; i++)
		*dt_action_add(cc, b, keys[i].kind) = keys[i];
	*dt_action_add(cc, b, func) = act;
}

/* ---- operations on aggregations ---- */
dt_agg *dt_arg_agg(dt_compiler *cc, dt_node *call, uint32_t i, enum dt_tag not_agg,
		   enum dt_tag undefined)
{
	dt_node *n = dt_arg(call, i);
	dt_ident *id;

	if (n->kind != N_AGG)
		dt_fail(cc, n->pos, not_agg, "%s must be an aggregation", dt_arg_name(cc, call, i));
	id = dt_agg_find(cc, n->name);
	if (!id || id->agg->func == DT_ACT_NONE)
		dt_fail(cc, n->pos, undefined, "undefined aggregation: @%s%s", n->name,
			dt_suggest(cc, n->name, ID_AGG));
	if (n->flags & NF_HAS_KEYS)
		dt_fail(cc, n->pos, not_agg, "%s: @%s is meant as a whole here, without keys",
			dt_arg_name(cc, call, i), n->name);
	return id->agg;
}

struct later_tags {
	enum dt_tag proto, not_agg, undefined, scalar;
};
static const struct later_tags clear_tags = {D_CLEAR_PROTO, D_CLEAR_AGGARG, D_CLEAR_AGGBAD,
					     D_UNKNOWN};
static const struct later_tags trunc_tags = {D_TRUNC_PROTO, D_TRUNC_AGGARG, D_TRUNC_AGGBAD,
					     D_TRUNC_SCALAR};
static const struct later_tags normalize_tags = {D_NORMALIZE_PROTO, D_NORMALIZE_AGGARG,
						 D_NORMALIZE_AGGBAD, D_NORMALIZE_SCALAR};

/* One action without data; a second one with the number, if there is one. */
static void compile_later(dt_compiler *cc, dt_clause_builder *b, dt_node *call,
			  const struct dt_action_desc *d, uint32_t min, uint32_t max,
			  const struct later_tags *tags)
{
	dt_node *number = NULL;
	dt_agg *agg;
	dt_stmt *s;

	dt_check_args_count(cc, call, min, max, tags->proto);
	agg = dt_arg_agg(cc, call, 0, tags->not_agg, tags->undefined);
	if (dt_arg(call, 1)) {
		number = dt_arg(call, 1);
		if (!dt_is_number(number->type))
			dt_fail(cc, number->pos, tags->scalar, "%s must be of scalar type, not %s",
				dt_arg_name(cc, call, 1), dt_tname(cc, number->type));
		number = dt_coerce(cc, number, dt_intrinsics(cc->types)->int64);
	}
	s = dt_stmt_add(cc, b, call, d->stmt, d->kind);
	s->aggs = dt_arena_dup(cc->arena, &agg, sizeof(agg));
	s->naggs = 1;
	dt_action_add(cc, b, d->kind);
	if (number)
		dt_action_value(cc, b, d->kind, number);
}

void dt_act_clear(dt_compiler *cc, dt_clause_builder *b, dt_node *call,
		  const struct dt_action_desc *d)
{
	compile_later(cc, b, call, d, 1, 1, &clear_tags);
}

void dt_act_trunc(dt_compiler *cc, dt_clause_builder *b, dt_node *call,
		  const struct dt_action_desc *d)
{
	compile_later(cc, b, call, d, 1, 2, &trunc_tags);
}

void dt_act_normalize(dt_compiler *cc, dt_clause_builder *b, dt_node *call,
		      const struct dt_action_desc *d)
{
	compile_later(cc, b, call, d, 2, 2, &normalize_tags);
}

void dt_act_denormalize(dt_compiler *cc, dt_clause_builder *b, dt_node *call,
			const struct dt_action_desc *d)
{
	compile_later(cc, b, call, d, 1, 1, &normalize_tags);
}

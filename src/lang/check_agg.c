/*
 * check_agg: aggregations in expressions, and @a[k] = f(e).
 *
 * An aggregation is not a value: its type is void, so that code that needs a value refuses it.
 * Without keys it must be known already; with keys, and by assignment, the name is created. The
 * function and the keys are checked when code is generated for the statement (action_agg.c).
 */
#include "lang/check.h"

static bool can_be_key(dt_compiler *cc, const dt_node *k)
{
	enum dt_special s = dt_type_resolve(k->type)->special;

	if (s == DT_S_STACK || s == DT_S_SYMADDR || s == DT_S_USYMADDR)
		return true;
	return !dt_type_is_dyn(k->type) && !dt_type_is_void(k->type) &&
	       !dt_type_is_function(k->type) && dt_type_is_complete(cc->types, k->type);
}

static void check_keys(dt_compiler *cc, dt_node *n, dt_ident *id)
{
	uint32_t count = dt_list_len(n->args), i = 1;

	for (dt_node **link = &n->args; *link; link = &(*link)->next)
		*link = dt_check(cc, *link);
	if (id->keys_known && count != id->nkeys)
		dt_fail(cc, n->pos, D_PROTO_LEN, "@%s has %u key%s here, but had %u before",
			id->name, count, count == 1 ? "" : "s", id->nkeys);
	for (const dt_node *k = n->args; k; k = k->next, i++)
		if (!can_be_key(cc, k))
			dt_fail(cc, k->pos, D_KEY_TYPE, "aggregation key #%u cannot be %s", i,
				dt_type_is_dyn(k->type) ? "a translated object" : dt_what(cc, k));
	id->nkeys = count;
	id->keys_known = true;
}

dt_node *dt_check_agg(dt_compiler *cc, dt_node *n)
{
	bool keyed = n->flags & NF_HAS_KEYS;
	dt_ident *id = keyed ? dt_agg_get(cc, n->name, n->pos) : dt_agg_find(cc, n->name);

	if (!id)
		dt_fail(cc, n->pos, D_IDENT_UNDEF,
			"failed to resolve @%s: Unknown aggregation name%s", n->name,
			dt_suggest(cc, n->name, ID_AGG));
	if (keyed)
		check_keys(cc, n, id);
	n->type = dt_intrinsics(cc->types)->void_;
	return n;
}

bool dt_is_agg_assign(const dt_node *n)
{
	return n->kind == N_OP2 && n->op == '=' && n->l->kind == N_AGG;
}

dt_node *dt_check_agg_assign(dt_compiler *cc, dt_node *n)
{
	check_keys(cc, n->l, dt_agg_get(cc, n->l->name, n->l->pos));
	n->l->type = n->type = dt_intrinsics(cc->types)->void_;
	n->l->flags |= NF_CHECKED;
	n->r = dt_check(cc, dt_constant_choice(cc, n->r));
	if (n->r->kind != N_FUNC)
		dt_fail(cc, n->r->pos, D_AGG_FUNC,
			"@%s must be assigned the result of an aggregating function, as in @%s = "
			"count()",
			n->l->name, n->l->name);
	/* the subroutines min(a, b) and max(a, b): here the aggregating functions are meant, of one value */
	if (n->r->ident->kind == ID_SUBR && (n->r->ident->id == DT_SUBR_MIN || n->r->ident->id == DT_SUBR_MAX))
		dt_check_args_count(cc, n->r, 1, 1, D_PROTO_LEN);
	if (n->r->ident->kind != ID_AGGFUNC)
		dt_fail(cc, n->r->pos, D_AGG_FUNC,
			"%s( ) is not an aggregating function: @%s cannot be assigned its result",
			n->r->ident->name, n->l->name);
	n->flags |= NF_CHECKED;
	return n;
}

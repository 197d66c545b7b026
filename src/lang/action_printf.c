/*
 * action_printf: the actions with a format: printf, system, freopen, printa.
 *
 * Each argument after the format is a separate action with one datum; the first has their number in
 * ntuple. Without arguments there is one empty action. The format is parsed and checked here, and
 * the consumer walks the pieces.
 */
#include "lang/action.h"

static dt_format *parse_format(dt_compiler *cc, const dt_node *fmt)
{
	dt_error err = {0};
	dt_format *f = dt_format_parse(cc->arena, fmt->str, fmt->len, &err);

	if (!f)
		dt_fail(cc, fmt->pos, D_SYNTAX, "%s", err.text);
	return f;
}

static const char *format_text(dt_compiler *cc, const dt_node *fmt)
{
	return dt_arena_strndup(cc->arena, fmt->str, fmt->len);
}

/* The literal that must come first. freopen("") is valid; for the others an empty format is an
 * error. */
static dt_node *format_arg(dt_compiler *cc, dt_node *call, bool may_be_empty)
{
	dt_node *fmt = dt_arg(call, 0);

	if (fmt->kind != N_STRING)
		dt_fail(cc, fmt->pos, D_PRINTF_ARG_FMT,
			"%s must be a string constant: it is the format", dt_arg_name(cc, call, 0));
	if (fmt->len == 0 && !may_be_empty)
		dt_fail(cc, fmt->pos, D_PRINTF_FMT_EMPTY, "%s( ) has an empty format", call->name);
	return fmt;
}

/* Arguments after the format, checked. */
static uint32_t format_args(dt_compiler *cc, dt_node *call, dt_node ***out, dt_type ***types)
{
	uint32_t n = dt_list_len(call->args) - 1, i = 0;
	dt_node *next;

	*out = dt_arena_alloc(cc->arena, (n + 1) * sizeof(**out));
	*types = dt_arena_alloc(cc->arena, (n + 1) * sizeof(**types));
	for (dt_node *a = call->args->next; a; a = next, i++) {
		next = a->next;
		if (dt_type_is_void(a->type) && a->kind != N_AGG && !dt_action_of(a))
			dt_fail(cc, a->pos, D_PRINTF_VOID, "%s has no value: it is void",
				dt_arg_name(cc, call, i + 1));
		(*out)[i] = a;
		(*types)[i] = a->type;
	}
	return n;
}

static void compile_printf(dt_compiler *cc, dt_clause_builder *b, dt_node *call,
			   const struct dt_action_desc *d, dt_node *fmt)
{
	dt_format *f = parse_format(cc, fmt);
	struct dt_format_args a = {.func = call->name, .pos = call->pos};
	dt_node **args;
	dt_stmt *s;

	a.n = format_args(cc, call, &args, &a.types);
	dt_format_check(cc, f, &a);
	s = dt_stmt_add(cc, b, call, d->stmt, d->kind);
	s->format = f;
	s->format_text = format_text(cc, fmt);
	if (a.n == 0)
		dt_action_add(cc, b, d->kind);
	for (uint32_t i = 0; i < a.n; i++)
		dt_action_value(cc, b, d->kind, args[i])->ntuple = i == 0 ? a.n : 0;
}

void dt_act_printf(dt_compiler *cc, dt_clause_builder *b, dt_node *call,
		   const struct dt_action_desc *d)
{
	compile_printf(cc, b, call, d, format_arg(cc, call, false));
}

void dt_act_freopen(dt_compiler *cc, dt_clause_builder *b, dt_node *call,
		    const struct dt_action_desc *d)
{
	dt_node *fmt = format_arg(cc, call, true);

	if (strcmp(format_text(cc, fmt), ".") == 0 || strcmp(format_text(cc, fmt), "..") == 0)
		dt_fail(
		    cc, fmt->pos, D_FREOPEN_INVALID,
		    "freopen( ) cannot write to \"%s\": it is a directory (to restore the output "
		    "use freopen(\"\"))",
		    format_text(cc, fmt));
	compile_printf(cc, b, call, d, fmt);
}

/* ---- printa ---- */

/* Rows of several aggregations are joined by their keys: these must be alike. */
static void check_same_keys(dt_compiler *cc, const dt_node *call, const dt_agg *x, const dt_agg *y)
{
	if (x->nkeys != y->nkeys)
		dt_fail(cc, call->pos, D_PRINTA_AGGKEY,
			"printa( ) of @%s and @%s: one has %u key%s, the other %u", x->name,
			y->name, x->nkeys, x->nkeys == 1 ? "" : "s", y->nkeys);
	for (uint32_t i = 0; i < x->nkeys; i++) {
		const dt_action *a = &x->keys[i], *c = &y->keys[i];
		if (a->kind != c->kind || a->size != c->size || a->arg != c->arg ||
		    !dt_type_compatible(cc->types, dt_key_type(cc, a), dt_key_type(cc, c)))
			dt_fail(
			    cc, call->pos, D_PRINTA_AGGPROTO,
			    "printa( ) of @%s and @%s: key #%u is %s in one and %s in the other",
			    x->name, y->name, i + 1, dt_tname(cc, dt_key_type(cc, a)),
			    dt_tname(cc, dt_key_type(cc, c)));
	}
}

static void check_printa_format(dt_compiler *cc, const dt_node *call, dt_format *f, dt_agg **aggs,
				uint32_t naggs)
{
	struct dt_format_args a = {.func = call->name,
				   .pos = call->pos,
				   .n = aggs[0]->nkeys,
				   .aggs = aggs,
				   .naggs = naggs};

	a.types = dt_arena_alloc(cc->arena, (a.n + 1) * sizeof(*a.types));
	for (uint32_t i = 0; i < a.n; i++)
		a.types[i] = dt_key_type(cc, &aggs[0]->keys[i]);
	dt_format_check(cc, f, &a);
}

void dt_act_printa(dt_compiler *cc, dt_clause_builder *b, dt_node *call,
		   const struct dt_action_desc *d)
{
	dt_node *fmt = call->args->kind == N_STRING ? call->args : NULL;
	uint32_t first = fmt ? 1 : 0, naggs = dt_list_len(call->args) - first;
	dt_format *f = NULL;
	dt_agg **aggs;
	dt_stmt *s;

	if (naggs == 0)
		dt_fail(cc, call->pos, D_PRINTA_PROTO,
			"printa( ) needs an aggregation: printa([format,] @name, ...)");
	if (fmt && fmt->len == 0)
		dt_fail(cc, fmt->pos, D_PRINTF_FMT_EMPTY, "printa( ) has an empty format");
	aggs = dt_arena_alloc(cc->arena, naggs * sizeof(*aggs));
	for (uint32_t i = 0; i < naggs; i++) {
		aggs[i] = dt_arg_agg(cc, call, first + i, D_PRINTA_AGGARG, D_PRINTA_AGGBAD);
		if (i > 0)
			check_same_keys(cc, call, aggs[0], aggs[i]);
	}
	if (fmt) {
		f = parse_format(cc, fmt);
		check_printa_format(cc, call, f, aggs, naggs);
	}
	s = dt_stmt_add(cc, b, call, d->stmt, d->kind);
	s->format = f;
	s->format_text = fmt ? format_text(cc, fmt) : NULL;
	s->aggs = aggs;
	s->naggs = naggs;
	dt_action_add(cc, b, d->kind);
}

/*
 * gen_function: functions that are compiled once.
 *
 * A large function (function.c marks its value) becomes a DIFO of its own, and its calls are calls of
 * that. Its parameters are clause-local variables, which have been assigned where it is called, so only
 * the value passes between the two. All calls for which the code is the same use one DIFO: that finds
 * out by itself what the code of a function depends on, such as the types of args[] in the clause, or
 * the depth of the call, which is part of the names of its variables.
 *
 * In a function, calls of others are repeated: DIF has one level of functions. Other DTraces have none,
 * so nothing is shared in what is meant for them (control=clauses).
 *
 * Other functions are blocks at the end of clauses (invoke.c). If the code is the same, the actions of all clauses have the
 * same DIFOs, by which engines know such a function again.
 */
#include "lang/gen.h"

#define SHORT	   32	/* instructions: a call is not worth it */
#define SLOTS_FROM 1000 /* spilled values must not meet those of the caller */

static bool same_relocs(const dt_difo *a, const dt_difo *b)
{
	if (a->nrelocs != b->nrelocs)
		return false;
	for (uint32_t i = 0; i < a->nrelocs; i++) {
		const dt_reloc *x = &a->relocs[i], *y = &b->relocs[i];

		if (x->name != y->name || x->index != y->index || x->data != y->data || x->user != y->user)
			return false;
	}
	return true;
}

static bool same_bytes(const void *a, const void *b, uint32_t na, uint32_t nb, size_t size)
{
	return na == nb && (na == 0 || memcmp(a, b, na * size) == 0);
}

static bool same_difo(const dt_difo *a, const dt_difo *b)
{
	return same_bytes(a->text, b->text, a->len, b->len, sizeof(*a->text)) &&
	       same_bytes(a->inttab, b->inttab, a->intlen, b->intlen, sizeof(*a->inttab)) &&
	       same_bytes(a->strtab, b->strtab, a->strlen, b->strlen, 1) &&
	       same_bytes(a->vars, b->vars, a->nvars, b->nvars, sizeof(*a->vars)) && same_relocs(a, b) &&
	       memcmp(&a->rtype, &b->rtype, sizeof(a->rtype)) == 0;
}

/* ---- functions that clauses have as blocks: invoke.c ---- */

#define VARIANTS 16 /* kinds of code that are looked for: by what args[] are, for example */

/* The first actions with this code. */
struct dt_body {
	const dt_action *actions;
	uint32_t n;
	struct dt_body *next;
};

static bool same_places(const dt_difo *a, const dt_difo *b)
{
	if (a->nplaces != b->nplaces)
		return false;
	for (uint32_t i = 0; i < a->nplaces; i++) {
		const dt_place *x = &a->places[i], *y = &b->places[i];

		if (x->at != y->at || x->pos.line != y->pos.line || x->pos.column != y->pos.column || x->pos.file != y->pos.file ||
		    !same_bytes(x->text, y->text, x->len, y->len, 1))
			return false;
	}
	return true;
}

static bool same_expression(const dt_difo *a, const dt_difo *b)
{
	if (!a || !b)
		return a == b;
	return same_difo(a, b) && same_bytes(a->functions, b->functions, a->nfunctions, b->nfunctions, sizeof(*a->functions)) &&
	       a->type == b->type && a->bound == b->bound && same_places(a, b);
}

static bool same_actions(const dt_action *a, const dt_action *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (a[i].kind != b[i].kind || !same_expression(a[i].difo, b[i].difo) || !same_expression(a[i].incr, b[i].incr))
			return false;
	return true;
}

void dt_gen_share_body(dt_compiler *cc, struct dt_inline *inl, dt_action *actions, uint32_t n)
{
	struct dt_body **link = &inl->bodies;

	for (uint32_t i = 0; *link && i < VARIANTS; link = &(*link)->next, i++) {
		if ((*link)->n != n || !same_actions((*link)->actions, actions, n))
			continue;
		for (uint32_t k = 0; k < n; k++) {
			actions[k].difo = (*link)->actions[k].difo;
			actions[k].incr = (*link)->actions[k].incr;
		}
		return;
	}
	if (*link)
		return;
	*link = dt_arena_alloc(cc->arena, sizeof(**link));
	(*link)->actions = dt_arena_dup(cc->arena, actions, n * sizeof(*actions));
	(*link)->n = n;
}

/* ---- functions that are DIFOs ---- */

static dt_difo *compile(dt_gen *g, const dt_node *n)
{
	dt_gen own = {.cc = g->cc,
		      .arena = g->arena,
		      .pos = g->pos,
		      .nregs = g->nregs,
		      .nslots = SLOTS_FROM,
		      .inside = true,
		      .node = n};
	dt_difo *d;

	dt_common_scan(&own, n->l);
	d = dt_gen_finish(&own, dt_gen_convert(&own, dt_gen_value(&own, n->l), n->l, n->type), n, n->type, true);
	d->places = NULL; /* faults have that of the call */
	d->nplaces = 0;
	return d;
}

/* The first DIFO with this code. */
static dt_difo *known(dt_compiler *cc, dt_difo *d)
{
	for (uint32_t i = 0; i < cc->functions.n; i++)
		if (same_difo(cc->functions.v[i], d))
			return cc->functions.v[i];
	*dt_vec_add(&cc->functions, NULL) = d;
	return d;
}

/* The number of the function in this DIFO; UINT32_MAX: it is not called. */
static uint32_t number(dt_gen *g, const dt_node *n)
{
	dt_difo *d;
	uint32_t i = 0;

	if (g->inside || !g->cc->prog || dt_opt(g->cc->opts, DT_O_CONTROL) != DT_CONTROL_BLOCKS)
		return UINT32_MAX;
	d = compile(g, n);
	if (d->len < SHORT)
		return UINT32_MAX;
	d = known(g->cc, d);
	while (i < g->functions.n && g->functions.v[i] != d)
		i++;
	if (i == DT_FUNCTIONS_MAX)
		return UINT32_MAX;
	if (i == g->functions.n)
		*dt_vec_add(&g->functions, g->arena) = d;
	return i;
}

static dt_val *repeat(dt_gen *g, const dt_node *n)
{
	bool outer = g->here;
	dt_val *v;

	g->here = true;
	dt_common_scan(g, n->l);
	v = dt_gen_convert(g, dt_gen_value(g, n->l), n->l, n->type);
	g->here = outer;
	return v;
}

dt_val *dt_gen_function(dt_gen *g, const dt_node *n)
{
	uint32_t i = number(g, n);
	dt_val *v;

	if (i == UINT32_MAX)
		return repeat(g, n);
	dt_common_forget(g);
	v = dt_val_new(g);
	dt_emit(g, DT_I_IDX(DT_OP_CALL, DT_CALL_FUNCTION + i, v->reg));
	return v;
}

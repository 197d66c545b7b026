/*
 * invoke: functions that a clause contains once.
 *
 * A function without a value, or with a loop (procedure.c, hoist.c), stands for its statements. Where a clause
 * calls a large one several times, its statements are at the end of the clause instead, and are entered from each call
 * (blocks.c: CALL and RETURN):
 *
 *	n = 3; note(); n = 4; note();	note: { printf("%d\n", n); @ = sum(n); }
 *
 * The code must not depend on the call, so arguments are variables, also constants, except where D needs a
 * constant: in a format, in lquantize(). For each set of such constants there is an instance of the function.
 *
 * No function is active twice, so the variables of a function are the same for all calls. Other hidden variables of
 * its body, which must not meet those of its callers, have a level in their names that only this function has. So its
 * code is the same in all clauses, and engines can have it once for all of them (gen_function.c, bpf/plan/bodies.c).
 * A function is defined after those that it calls, so in descending order of definition all
 * callers of a function come before it, and what is known about them is complete.
 *
 * Some depend on where they are called: exit() and commit() are about the block of the call, speculate() about its
 * braces. Functions with these are repeated, and so are all in a clause that speculates, where what may be recorded
 * depends on the place, or that calls one after exit(), since the rest of the block still runs. For other DTraces (control=clauses) and in clauses that several machines
 * share (split.c) everything is repeated.
 */
#include "lang/function.h"

#define SMALL 24  /* operations: not worth a call */
#define WORTH 100 /* operations that are saved */
#define LARGE 100 /* operations: worth a call if other clauses call it too ... */
#define GAIN  1000 /* ... or so many are saved in all of them */
#define MANY  100000
#define DEEP  32 /* levels of functions inside each other */
#define LEVELS 1024 /* more than there can be */

struct called { /* a function that the clause calls */
	const dt_ident *id;
	uint32_t times; /* that its statements would be there */
	uint32_t depth; /* of them, inside those of others */
	uint32_t direct, via; /* calls of it; and of one that calls it: the most */
	bool apart;
	struct called *next; /* in descending order of definition */
};

struct dt_instance {
	const dt_ident *id;
	dt_node **values; /* of its names: constants or variables */
	uint32_t number;
	bool made;
	const struct dt_ready *ready; /* how an earlier clause has it; NULL: it is compiled */
	struct dt_instance *next;
};

struct dt_invocations {
	struct called *called;
	struct dt_instance *instances;
	uint32_t ninstances;
	bool bound; /* the clause has them where they are called */
};

/* ---- what a function needs, where it is defined ---- */

static bool is_procedure(const dt_ident *id)
{
	return id && id->kind == ID_FUNC && id->inl->order;
}

static const dt_ident *called_by(dt_compiler *cc, const dt_node *n)
{
	return n->kind == N_CALL ? dt_ident_find(cc, n->name, 0) : NULL;
}

static bool is_about_place(const dt_ident *id)
{
	enum dt_effect e = id->kind == ID_ACTION ? dt_act(id->act->kind)->effect : DT_EFFECT_NONE;

	return e == DT_EFFECT_EXIT || e == DT_EFFECT_SPECULATE || e == DT_EFFECT_COMMIT;
}

static bool depends_on_place(dt_compiler *cc, const dt_node *n)
{
	for (; n; n = n->next) {
		const dt_ident *id = called_by(cc, n);

		if (id && (is_about_place(id) || (is_procedure(id) && !id->inl->apart)))
			return true;
		if (depends_on_place(cc, n->c) || depends_on_place(cc, n->l) || depends_on_place(cc, n->r) ||
		    depends_on_place(cc, n->args))
			return true;
	}
	return false;
}

/* The parameters in an expression, by number. */
static uint64_t names_in(const struct dt_inline *inl, const dt_node *n)
{
	uint64_t found = 0;

	for (; n; n = n->next) {
		for (uint32_t i = 0; n->kind == N_IDENT && !n->scope && i < inl->nparams; i++)
			if (strcmp(inl->params[i].name, n->name) == 0)
				found |= 1ull << i;
		found |= names_in(inl, n->c) | names_in(inl, n->l) | names_in(inl, n->r) | names_in(inl, n->args);
	}
	return found;
}

static uint64_t names_in_one(const struct dt_inline *inl, const dt_node *arg)
{
	dt_node one = *arg;

	one.next = NULL;
	return names_in(inl, &one);
}

/* May argument i of this call have to be a constant? */
static bool needs_constant(const dt_ident *id, uint32_t i)
{
	if (is_procedure(id))
		return id->inl->constants >> i & 1;
	switch (id->kind) {
	case ID_AGGFUNC: return i > 0;
	case ID_SUBR: return id->id == DT_SUBR_SPRINTF ? i == 0 : id->proto && strstr(id->proto, "const");
	case ID_ACTION:
		if (dt_stmts[id->act->stmt].has_format)
			return i == 0;
		return id->act->stmt != DT_ST_TRACE && id->act->stmt != DT_ST_PRINT && id->act->stmt != DT_ST_SYM;
	default: return false;
	}
}

static uint64_t constants_of(dt_compiler *cc, const struct dt_inline *inl, const dt_node *n)
{
	uint64_t found = 0;

	for (; n; n = n->next) {
		const dt_ident *id = called_by(cc, n);
		uint32_t i = 0;

		for (const dt_node *a = id ? n->args : NULL; a; a = a->next, i++)
			if (needs_constant(id, i))
				found |= names_in_one(inl, a);
		found |= constants_of(cc, inl, n->c) | constants_of(cc, inl, n->l) | constants_of(cc, inl, n->r) |
			 constants_of(cc, inl, n->args);
	}
	return found;
}

void dt_invoke_study(dt_compiler *cc, struct dt_inline *inl)
{
	inl->apart = !depends_on_place(cc, inl->expr);
	inl->constants = constants_of(cc, inl, inl->expr);
	inl->nodes = dt_node_count(inl->expr);
	inl->order = ++cc->shared->nprocedures;
}

/* ---- which functions a clause calls, and how often ---- */

static struct called *note(dt_compiler *cc, const dt_ident *id)
{
	struct called **link = &cc->invoked->called, *c;

	while (*link && (*link)->id->inl->order > id->inl->order)
		link = &(*link)->next;
	if (*link && (*link)->id == id)
		return *link;
	c = dt_arena_alloc(cc->arena, sizeof(*c));
	c->id = id;
	c->next = *link;
	*link = c;
	return c;
}

static uint32_t called_in_all(const struct called *c)
{
	return c->direct + c->via;
}

static bool calls_some(dt_compiler *cc, const dt_node *n)
{
	for (; n; n = n->next)
		if (is_procedure(called_by(cc, n)) || calls_some(cc, n->c) || calls_some(cc, n->l) || calls_some(cc, n->r) ||
		    calls_some(cc, n->args))
			return true;
	return false;
}

/* Is n a statement with exit(), and what follows calls a function? */
static bool calls_after_exit(dt_compiler *cc, const dt_node *n)
{
	return n->kind == N_EXPR_STMT && n->l && n->l->kind == N_CALL && n->next && depends_on_place(cc, n->l) &&
	       calls_some(cc, n->next);
}

/* In the statements of a function that is called, or of the clause (NULL). They are there so often, at this depth. The
 * condition of a loop is there twice. */
static void find_called(dt_compiler *cc, const struct called *by, const dt_node *n, uint32_t times, uint32_t depth)
{
	for (; n; n = n->next) {
		const dt_ident *id = called_by(cc, n);

		if (is_procedure(id)) {
			struct called *c = note(cc, id);

			c->times = c->times + times < MANY ? c->times + times : MANY;
			c->depth = c->depth > depth ? c->depth : depth + 1;
			c->direct += !by;
			c->via = by && called_in_all(by) > c->via ? called_in_all(by) : c->via;
		}
		if (id && is_about_place(id) && dt_act(id->act->kind)->effect != DT_EFFECT_EXIT)
			cc->invoked->bound = true;
		if (calls_after_exit(cc, n))
			cc->invoked->bound = true;
		find_called(cc, by, n->c, n->kind == N_LOOP && times < MANY ? 2 * times : times, depth);
		find_called(cc, by, n->l, times, depth);
		find_called(cc, by, n->r, times, depth);
		find_called(cc, by, n->args, times, depth);
	}
}

/* ---- other clauses ---- */

void dt_invoke_expect(dt_compiler *cc, const dt_ident *id)
{
	if (is_procedure(id))
		note(cc, id)->direct++;
}

/* How often each function is called by the clauses of the text, or by functions that they call. */
static void expect_calls(dt_compiler *cc)
{
	struct dt_invocations *clause = cc->invoked;

	cc->invoked = dt_arena_alloc(cc->arena, sizeof(*cc->invoked));
	if (dt_foresee(cc))
		for (struct called *c = cc->invoked->called; c; c = c->next) {
			c->id->inl->expected.times = called_in_all(c);
			c->id->inl->expected.generation = cc->generation;
			find_called(cc, c, c->id->inl->expr, 1, 0);
		}
	cc->invoked = clause;
}

/* How often others call the function, and this clause for all of its descriptions but one. */
static uint64_t others(const dt_compiler *cc, const struct called *c, uint32_t descriptions)
{
	const struct dt_inline *inl = c->id->inl;
	uint32_t here = called_in_all(c), expected = inl->expected.generation == cc->generation ? inl->expected.times : 0;
	uint64_t more = expected > here ? expected - here : 0;

	return (more > inl->uses ? more : inl->uses) + (uint64_t)here * (descriptions - 1);
}

static bool is_worth(const struct dt_inline *inl, uint64_t times, uint64_t others)
{
	uint64_t saved = (times - 1 + others) * inl->nodes;

	if (inl->nodes < SMALL)
		return false;
	return (times - 1) * inl->nodes >= WORTH || (others && saved >= WORTH && (inl->nodes >= LARGE || saved >= GAIN));
}

void dt_invoke_begin(dt_compiler *cc, const dt_node *clause)
{
	uint32_t descriptions = dt_list_len(clause->args);

	cc->invoked = NULL;
	if (dt_opt(cc->opts, DT_O_CONTROL) != DT_CONTROL_BLOCKS || dt_opt(cc->opts, DT_O_MACHINES))
		return;
	cc->invoked = dt_arena_alloc(cc->arena, sizeof(*cc->invoked));
	find_called(cc, NULL, clause->c, 1, 0);
	find_called(cc, NULL, clause->l, 1, 0);
	if (cc->invoked->called)
		expect_calls(cc);
	for (struct called *c = cc->invoked->called; c; c = c->next) { /* those found meanwhile come later */
		struct dt_inline *inl = c->id->inl;

		c->apart = inl->apart && (c->depth > DEEP || is_worth(inl, c->times, others(cc, c, descriptions)));
		inl->uses += inl->uses < MANY ? called_in_all(c) * descriptions : 0;
		find_called(cc, c, inl->expr, c->apart ? 1 : c->times, c->apart ? 0 : c->depth);
	}
	if (cc->invoked->bound)
		cc->invoked = NULL;
}

bool dt_is_apart(const dt_compiler *cc, const dt_ident *id)
{
	if (!cc->invoked)
		return false;
	for (const struct called *c = cc->invoked->called; c; c = c->next)
		if (c->id == id)
			return c->apart;
	return false;
}

/* ---- instances ---- */

static bool same_value(const dt_node *a, const dt_node *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case N_INT: return a->ival == b->ival && a->type == b->type;
	case N_STRING: return strcmp(a->str, b->str) == 0;
	default: return true; /* the variable of this name */
	}
}

static bool same_values(const dt_ident *id, dt_node *const *a, dt_node *const *b)
{
	for (uint32_t i = 0; i < id->inl->nnames; i++)
		if (!same_value(a[i], b[i]))
			return false;
	return true;
}

static struct dt_instance *instance_of(dt_compiler *cc, const dt_ident *id, dt_node *const *values)
{
	struct dt_instance *in;

	for (in = cc->invoked->instances; in; in = in->next)
		if (in->id == id && same_values(id, in->values, values))
			return in;
	if (cc->invoked->ninstances == DT_BODIES_MAX)
		return NULL;
	in = dt_arena_alloc(cc->arena, sizeof(*in));
	in->id = id;
	in->values = dt_arena_dup(cc->arena, values, id->inl->nnames * sizeof(dt_node *));
	in->number = cc->invoked->ninstances++;
	in->next = cc->invoked->instances;
	cc->invoked->instances = in;
	return in;
}

dt_node *dt_invoke(dt_compiler *cc, const dt_ident *id, dt_node *const *values, dt_pos pos)
{
	struct dt_instance *in = instance_of(cc, id, values);
	dt_node *n;

	if (!in)
		return NULL;
	n = dt_node_new(cc, N_INVOKE, pos);
	n->name = id->name;
	n->ival = in->number;
	return n;
}

/* ---- instances that an earlier clause has ---- */

/* Those that it calls become instances of this clause too. */
static const struct dt_ready *find_ready(dt_compiler *cc, const struct dt_instance *in)
{
	const struct dt_ready *r = in->id->inl->ready;

	if (cc->dump_parsed || cc->dump_sugar || cc->opts->is_set[DT_O_AMIN])
		return NULL; /* statements are needed */
	while (r && (r->generation != cc->generation || !same_values(in->id, r->values, in->values)))
		r = r->next;
	for (uint32_t i = 0; r && i < r->ncalls; i++)
		if (!instance_of(cc, r->calls[i].id, r->calls[i].values))
			return NULL;
	return r;
}

static const struct dt_instance *instance_numbered(const dt_compiler *cc, uint64_t number)
{
	const struct dt_instance *in = cc->instances;

	while (in && in->number != number)
		in = in->next;
	return in;
}

const struct dt_ready *dt_invoke_ready(const dt_compiler *cc, uint64_t number)
{
	const struct dt_instance *in = instance_numbered(cc, number);

	return in ? in->ready : NULL;
}

uint64_t dt_invoke_number(const dt_compiler *cc, const struct dt_ready_call *call)
{
	const struct dt_instance *in = cc->instances;

	while (in && (in->id != call->id || !same_values(in->id, in->values, call->values)))
		in = in->next;
	return in ? in->number : UINT64_MAX;
}

struct dt_ready_call dt_invoke_call(const dt_compiler *cc, uint64_t number, uint32_t action)
{
	const struct dt_instance *in = instance_numbered(cc, number);

	return (struct dt_ready_call){in->id, in->values, action};
}

#define READY_MAX 16 /* instances of a function that are kept */

void dt_invoke_keep(dt_compiler *cc, uint64_t number, const struct dt_ready *r)
{
	const struct dt_instance *in = instance_numbered(cc, number);
	struct dt_ready **link = &in->id->inl->ready, *copy;
	uint32_t n = 0;

	for (; *link; link = &(*link)->next, n++)
		if (n == READY_MAX || ((*link)->generation == cc->generation && same_values(in->id, (*link)->values, in->values)))
			return;
	copy = *link = dt_arena_dup(cc->arena, r, sizeof(*r));
	copy->values = in->values;
	copy->generation = cc->generation;
	copy->next = NULL;
}

/* ---- all of them ---- */

/* Its callers are complete. */
static struct dt_instance *next_to_make(dt_compiler *cc)
{
	struct dt_instance *best = NULL;

	for (struct dt_instance *in = cc->invoked ? cc->invoked->instances : NULL; in; in = in->next)
		if (!in->made && (!best || in->id->inl->order > best->id->inl->order))
			best = in;
	return best;
}

void dt_invoke_end(dt_compiler *cc, dt_node *clause)
{
	uint32_t calls = cc->calls;
	struct dt_instance *in;

	while ((in = next_to_make(cc))) {
		dt_node *n = dt_node_new(cc, N_INVOKED, in->id->pos);

		in->made = true;
		in->ready = find_ready(cc, in);
		cc->calls = in->id->inl->order * LEVELS;
		if (!in->ready)
			n->l = dt_procedure_body(cc, in->id, in->values, in->id->pos);
		n->name = in->id->name;
		n->ident = (dt_ident *)in->id;
		n->ival = in->number;
		clause->l = dt_append(clause->l, n);
	}
	cc->calls = calls;
	cc->instances = cc->invoked ? cc->invoked->instances : NULL;
	cc->invoked = NULL;
}

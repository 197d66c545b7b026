/*
 * split: a clause that uses what several machines share is cut in two.
 *
 * Kept at the front are: global variables that a clause for other machines uses; every self-> and this-> variable whose
 * value, or whether it is assigned at all, depends on something kept there; and speculations, if a clause that is cut
 * uses them. That is found by reading all clauses again until nothing is added (compile.c), so it does not depend on
 * their order.
 *
 * A clause that uses something kept at the front is cut. Its machine evaluates, in the order of the text:
 *   - of the predicate, the conditions before the first that needs the front, and later ones that cannot fault,
 *   - assignments to variables that are not kept at the front, and destructive actions,
 *   - the largest expressions that need nothing of the front, except constants, the names of the probe, and the time of the
 *     firing, which the front knows. Their values are the data of the machine's record.
 * The rest is the front's part: the clause as it was written, with hidden variables in place of those expressions. Stacks,
 * symbols and memory are data of the machine which the front's part passes on as they are (dt_action.given).
 *
 * if, loops and switch of such a clause run at the front; what needs only the machine is evaluated before, once.
 */
#include "lang/action.h"
#include "lang/split.h"

#define SPECULATION "speculation()"

struct cut {
	dt_compiler *cc;
	dt_clause *clause;
	bool grew;
	bool conditional;	/* at hand: what the front decides whether it runs */
	dt_clause_builder *machine;
	DT_VEC(uint32_t) vars;	/* for each action of the machine: the variable that gets its datum */
	uint32_t nhidden;
};

bool dt_split_is_constant(const dt_node *n)
{
	const dt_node *use = n->use;

	return use && use->name && (n->kind == N_STRING ? strcmp(use->name, "vmname") == 0
				    : n->kind == N_INT && strcmp(use->name, "hostid") == 0);
}

/* ---- what is kept at the front ---- */

static const char *full_name(dt_compiler *cc, const dt_ident *id)
{
	const char *prefix = id->scope == DT_SCOPE_THREAD ? "self->" : id->scope == DT_SCOPE_LOCAL ? "this->" : "";

	return *prefix ? dt_arena_printf(cc->arena, "%s%s", prefix, id->name) : id->name;
}

static dt_map *kept(dt_compiler *cc)
{
	if (!cc->shared->kept)
		cc->shared->kept = dt_map_new();
	return cc->shared->kept;
}

void dt_compiler_keep(dt_compiler *cc, const char *name)
{
	dt_map_set(kept(cc), name, cc->shared);
}

bool dt_compiler_kept(dt_compiler *cc, uint32_t *it, const char **name)
{
	void *value;

	return dt_map_next(kept(cc), it, name, &value);
}

static bool is_user(const dt_node *n)
{
	return n->kind == N_VAR && !(n->ident->flags & IDF_BUILTIN);
}

/* Made by the compiler for one clause. */
static bool is_hidden(const dt_ident *id)
{
	return id->name[0] == '%' && strncmp(id->name, "%condition_", 11) != 0 && strcmp(id->name, "%error") != 0;
}

static const char *kept_name(struct cut *c, const dt_ident *id)
{
	const char *name = full_name(c->cc, id);

	return is_hidden(id) ? dt_arena_printf(c->cc->arena, "%s of %u", name, c->clause->number) : name;
}

static bool is_kept(struct cut *c, const dt_ident *id)
{
	return dt_map_get(kept(c->cc), kept_name(c, id)) != NULL;
}

static void keep(struct cut *c, const dt_ident *id, dt_pos pos)
{
	const char *name = kept_name(c, id);

	if (is_kept(c, id))
		return;
	if (id->generation != c->cc->generation && !is_hidden(id) && !c->cc->shared->here->is_agent)
		dt_fail(c->cc, pos, D_UNKNOWN,
			"%s is shared by several machines here, but an earlier program of this session uses it on one machine: "
			"write both as one program", name);
	dt_compiler_keep(c->cc, name);
	c->grew = c->cc->kept_grew = true;
}

static bool any_of(struct cut *c, const dt_node *list, bool (*is)(struct cut *c, const dt_node *n))
{
	for (const dt_node *n = list; n; n = n->next)
		if (is(c, n) || any_of(c, n->c, is) || any_of(c, n->l, is) || any_of(c, n->r, is) || any_of(c, n->args, is))
			return true;
	return false;
}

static bool of_tree(struct cut *c, const dt_node *n, bool (*is)(struct cut *c, const dt_node *n))
{
	return n && (is(c, n) || any_of(c, n->c, is) || any_of(c, n->l, is) || any_of(c, n->r, is) || any_of(c, n->args, is));
}

static bool is_call_of(const dt_node *n, enum dt_subr subr)
{
	return n->kind == N_FUNC && n->ident->kind == ID_SUBR && n->ident->id == subr;
}

static bool is_front(struct cut *c, const dt_node *n)
{
	return (is_user(n) && is_kept(c, n->ident)) ||
	       (is_call_of(n, DT_SUBR_SPECULATION) && dt_map_get(kept(c->cc), SPECULATION));
}

/* Does n need what is kept at the front? */
static bool needs_front(struct cut *c, const dt_node *n)
{
	return of_tree(c, n, is_front);
}

/* What only the machine knows. */
static bool is_far(struct cut *c, const dt_node *n)
{
	(void)c;
	switch (n->kind) {
	case N_INT:
	case N_STRING: return dt_split_is_constant(n);
	case N_VAR: break;
	case N_SYM:
	case N_XLATE: return true;
	case N_FUNC: return n->ident->kind == ID_SUBR;
	case N_OP1: return n->op == '*';
	case N_OP2: return n->op == T_ARROW;
	default: return false;
	}
	switch ((n->ident->flags & IDF_BUILTIN) ? n->ident->id : 0) {
	case DT_VAR_TIMESTAMP:
	case DT_VAR_WALLTIMESTAMP:
	case DT_VAR_PROBEPROV:
	case DT_VAR_PROBEMOD:
	case DT_VAR_PROBEFUNC:
	case DT_VAR_PROBENAME:
	case DT_VAR_EPID:
	case DT_VAR_ID: return false;
	default: return true;
	}
}

static bool assigns(const dt_node *n)
{
	return (n->kind == N_OP2 && dt_is_assign_op(n->op) && n->l->kind != N_AGG) ||
	       (n->kind == N_OP1 && dt_is_step_op(n->op));
}

static bool is_destructive(struct cut *c, const dt_node *n)
{
	const struct dt_action_desc *d = dt_action_of(n);

	(void)c;
	return (d && dt_act(d->kind)->needs & DT_NEEDS_DESTRUCTIVE && dt_act(d->kind)->payload == DT_PAYLOAD_NONE) ||
	       is_call_of(n, DT_SUBR_COPYOUT) || is_call_of(n, DT_SUBR_COPYOUTSTR);
}

static bool has_effect(struct cut *c, const dt_node *n)
{
	return assigns(n) || is_destructive(c, n);
}

static bool may_fault(struct cut *c, const dt_node *n)
{
	(void)c;
	return n->kind == N_FUNC || n->kind == N_XLATE || (n->kind == N_OP1 && n->op == '*') ||
	       (n->kind == N_OP2 && (n->op == T_ARROW || n->op == '[' || n->op == '/' || n->op == '%')) || assigns(n);
}

/* ---- which variables the clause adds ---- */

/* The variable that an assignment to n changes; NULL: memory. */
static const dt_node *changed(const dt_node *n)
{
	while (n && (n->kind == N_OP2 && (n->op == '.' || n->op == '[')))
		n = n->l;
	return n && is_user(n) ? n : NULL;
}

static void study(struct cut *c, const dt_node *n);

static void study_list(struct cut *c, const dt_node *list)
{
	for (; list; list = list->next)
		study(c, list);
}

/* r runs only if the front says so. */
static void study_if(struct cut *c, bool front, const dt_node *l, const dt_node *r)
{
	bool outer = c->conditional;

	c->conditional |= front;
	if (l)
		study(c, l);
	if (r)
		study(c, r);
	c->conditional = outer;
}

static void study(struct cut *c, const dt_node *n)
{
	bool logic = n->kind == N_OP2 && (n->op == T_ANDAND || n->op == T_OROR);

	if (assigns(n)) {
		const dt_node *v = changed(n->l);

		if (v && (c->conditional || (n->r && needs_front(c, n->r))))
			keep(c, v->ident, n->pos);
	}
	if (n->kind == N_OP3 || logic) {
		const dt_node *first = logic ? n->l : n->c;

		study(c, first);
		study_if(c, needs_front(c, first), logic ? NULL : n->l, n->r);
		return;
	}
	study_list(c, n->c);
	study_list(c, n->l);
	study_list(c, n->r);
	study_list(c, n->args);
}

static bool is_control(const dt_node *n)
{
	return n->kind != N_EXPR_STMT;
}

static void study_statements(struct cut *c, const dt_node *list)
{
	bool outer = c->conditional;

	for (const dt_node *n = list; n; n = n->next) {
		c->conditional = outer || is_control(n);
		study_list(c, n->c);
		study_list(c, n->l);
		study_list(c, n->r);
		study_list(c, n->args);
	}
	c->conditional = outer;
}

static bool is_global(struct cut *c, const dt_node *n)
{
	if (is_user(n) && n->ident->scope == DT_SCOPE_GLOBAL)
		keep(c, n->ident, n->pos);
	return false; /* all of them */
}

static bool is_speculative(struct cut *c, const dt_node *n)
{
	const struct dt_action_desc *d = dt_action_of(n);
	enum dt_effect e = d ? dt_act(d->kind)->effect : DT_EFFECT_NONE;

	(void)c;
	return is_call_of(n, DT_SUBR_SPECULATION) || e == DT_EFFECT_SPECULATE || e == DT_EFFECT_COMMIT ||
	       e == DT_EFFECT_DISCARD;
}

/* Is it for machines other than the front? ERROR of the front also fires for what the front's part of a clause does. */
static bool shares(struct cut *c)
{
	const dt_probedesc *d = &c->clause->desc;

	if (d->machine && strcmp(d->machine, "host") != 0)
		return true;
	return strcmp(d->name, "ERROR") == 0 && dt_map_count(kept(c->cc)) > 0;
}

static bool is_cut(struct cut *c, const struct dt_split *s)
{
	return (*s->pred && needs_front(c, *s->pred)) || any_of(c, s->body, is_front);
}

/* Until nothing is added. */
static bool study_all(struct cut *c, const struct dt_split *s)
{
	if (shares(c)) {
		if (*s->pred)
			of_tree(c, *s->pred, is_global);
		any_of(c, s->body, is_global);
	}
	do {
		c->grew = false;
		if (!is_cut(c, s))
			return false;
		if (!dt_map_get(kept(c->cc), SPECULATION) && any_of(c, s->body, is_speculative)) {
			dt_compiler_keep(c->cc, SPECULATION);
			c->grew = c->cc->kept_grew = true;
		}
		c->conditional = *s->pred && needs_front(c, *s->pred);
		study_statements(c, s->body);
		c->conditional = false;
		if (*s->pred)
			study(c, *s->pred);
	} while (c->grew);
	return true;
}

bool dt_split_study(dt_compiler *cc, const struct dt_split *s)
{
	struct cut c = {.cc = cc, .clause = s->clause};

	return study_all(&c, s);
}

/* ---- the machine's data ---- */

static void note_action(struct cut *c, uint32_t var)
{
	while (c->vars.n < c->machine->actions.n)
		*dt_vec_add(&c->vars, c->cc->arena) = 0;
	if (var)
		c->vars.v[c->machine->actions.n - 1] = var;
}

static dt_type *wide(dt_compiler *cc, const dt_type *t)
{
	const struct dt_intrinsics *in = dt_intrinsics(cc->types);

	return dt_type_is_signed(t) ? in->int64 : in->uint64;
}

/* What a value is called where it is shown. */
static const char *shown(const dt_node *n)
{
	while (n->kind == N_OP1 && n->op == '(')
		n = n->l;
	if (n->kind == N_VAR)
		return n->ident->kind == ID_SCALAR ? n->ident->name : NULL;
	return n->kind == N_OP2 && (n->op == '.' || n->op == T_ARROW) ? n->name : NULL;
}

/* The hidden variable of the front that gets the next datum. */
static dt_node *hidden(struct cut *c, const dt_node *n, dt_type *type)
{
	dt_compiler *cc = c->cc;
	const char *name = dt_arena_printf(cc->arena, "%%sent_%u_%u", c->clause->number, c->nhidden++);
	dt_ident *id = dt_ident_find(cc, name, T_THIS);
	dt_node *v = dt_node_new(cc, N_VAR, n->pos);

	if (!id || id->generation != cc->generation)
		id = dt_ident_new(cc, name, ID_SCALAR, T_THIS, n->pos);
	id->type = type;
	id->flags |= IDF_TYPED;
	id->shown = shown(n);
	v->ident = id;
	v->flags = NF_LVAL | NF_CHECKED;
	v->from = n->from;
	v->written = n->written;
	v->use = n->use;
	dt_set_object(v, type);
	return v;
}

/* Where the text of n begins and ends; an operation made by the compiler has that of its operands. NULL: it has none. */
static const char *written(const dt_node *n, const char **end)
{
	const dt_node *parts[] = {n->c, n->l, n->r};
	const char *first = n->from;

	if (first) {
		if (first + n->written > *end)
			*end = first + n->written;
		return first;
	}
	for (size_t i = 0; i < DT_NELEM(parts); i++) {
		const char *from = parts[i] ? written(parts[i], end) : NULL;

		if (from && (!first || from < first))
			first = from;
	}
	return first;
}

/* n is evaluated at the machine; returned is what stands for it at the front. Numbers travel with 64 bits, since types may be of
 * another size there. */
static dt_node *send(struct cut *c, dt_node *n)
{
	dt_compiler *cc = c->cc;
	dt_node *next = n->next, *v, *object, *value;
	const char *from, *end = NULL;
	bool integer;

	n->next = NULL;
	object = dt_xlate_object(n);
	integer = dt_type_is_integer(object->type);
	v = hidden(c, object, integer ? wide(cc, object->type) : object->type);
	value = integer ? dt_coerce(cc, object, v->type) : object;
	if (!value->from && (from = written(n, &end))) {
		value->from = from;
		value->written = (uint32_t)(end - from);
	}
	dt_stmt_add(cc, c->machine, n, DT_ST_TRACE, DT_ACT_DIFEXPR);
	dt_action_value(cc, c->machine, DT_ACT_DIFEXPR, value);
	note_action(c, v->ident->id);
	if (integer)
		v = dt_coerce(cc, v, object->type);
	v->next = next;
	return v;
}

/* ---- expressions of the front's part ---- */

static dt_node *front_part(struct cut *c, dt_node *n);

static dt_node *front_list(struct cut *c, dt_node *list)
{
	for (dt_node **link = &list; *link; link = &(*link)->next)
		*link = front_part(c, *link);
	return list;
}

static dt_node *front_part(struct cut *c, dt_node *n)
{
	if (n->kind == N_AGG)
		return n;
	if (!needs_front(c, n))
		return of_tree(c, n, is_far) ? send(c, n) : n;
	if (n->kind == N_XLATE)
		dt_fail(c->cc, n->pos, D_UNKNOWN, "what is kept at the front cannot be translated there");
	if (n->kind == N_OP2 && dt_is_assign_op(n->op) && !needs_front(c, n->l))
		dt_fail(c->cc, n->pos, D_UNKNOWN, "memory of a machine cannot be assigned what is kept at the front");
	if (of_tree(c, n, is_destructive) && is_destructive(c, n))
		dt_fail(c->cc, n->pos, D_UNKNOWN, "%s( ) runs on its machine: it cannot depend on what is kept at the front",
			n->ident->name);
	if (n->flags & NF_SHARED) { /* a function: each call has other data */
		n->l = dt_node_copy(c->cc, n->l);
		n->flags &= (uint16_t)~NF_SHARED;
	}
	n->c = n->c ? front_list(c, n->c) : NULL;
	n->l = n->l ? front_list(c, n->l) : NULL;
	n->r = n->r ? front_list(c, n->r) : NULL;
	n->args = n->args ? front_list(c, n->args) : NULL;
	return n;
}

/* ---- actions whose datum the front passes on ---- */

static bool is_passed_on(const struct dt_action_desc *d)
{
	enum dt_payload p = d ? dt_act(d->kind)->payload : DT_PAYLOAD_NONE;

	return p != DT_PAYLOAD_NONE && p != DT_PAYLOAD_VALUE;
}

static void pass_on(struct cut *c, dt_node *call, const struct dt_action_desc *d)
{
	dt_node *copy = dt_node_copy(c->cc, call);
	uint32_t at = c->machine->actions.n;

	if (any_of(c, call->args, is_front))
		dt_fail(c->cc, call->pos, D_UNKNOWN, "%s( ) is about memory of its machine: it cannot use what is kept at the front",
			d->name);
	d->compile(c->cc, c->machine, copy, d);
	c->machine->stmts.v[c->machine->stmts.n - 1].kind = DT_ST_TRACE;
	if (c->machine->actions.n > at + 1) { /* only the first: another value follows it */
		c->machine->actions.n = at + 1;
		c->machine->stmts.v[c->machine->stmts.n - 1].nactions = 1;
	}
	note_action(c, 0);
	call->ival = at + 1;
	if (d->kind == DT_ACT_TRACEMEM && dt_arg(call, 2))
		call->args->next->next = front_part(c, call->args->next->next);
	if (d->kind == DT_ACT_PCAP)
		call->args->next = front_part(c, call->args->next);
}

static void front_keys(struct cut *c, dt_node *at)
{
	for (dt_node **link = &at->args; *link; link = &(*link)->next) {
		const struct dt_action_desc *d = dt_action_of(*link);

		if (is_passed_on(d))
			pass_on(c, *link, d);
		else
			*link = front_part(c, *link);
	}
}

/* ---- statements ---- */

static void refuse_effect(struct cut *c, const dt_node *n)
{
	if (of_tree(c, n, is_destructive))
		dt_fail(c->cc, n->pos, D_UNKNOWN,
			"a destructive action runs on its machine: it cannot depend on what is kept at the front, or be in an if or loop of "
			"such a clause");
}

static void front_expression(struct cut *c, dt_node *stmt, bool conditional)
{
	dt_node *e = stmt->l;
	const struct dt_action_desc *d = dt_action_of(e);

	if (conditional)
		refuse_effect(c, e);
	if (dt_is_agg_assign(e)) {
		front_keys(c, e->l);
		e->r->args = e->r->args ? front_list(c, e->r->args) : NULL;
	} else if (is_passed_on(d)) {
		pass_on(c, e, d);
	} else if (!needs_front(c, e) && of_tree(c, e, has_effect)) {
		dt_stmt_compile(c->cc, c->machine, e);
		note_action(c, 0);
		stmt->l = NULL;
	} else if (d) {
		e->args = e->args ? front_list(c, e->args) : NULL;
	} else if (!needs_front(c, e)) {
		stmt->l = NULL; /* it does nothing */
	} else {
		stmt->l = front_part(c, e);
	}
}

static void front_statements(struct cut *c, dt_node *list, bool conditional)
{
	for (dt_node *n = list; n; n = n->next) {
		switch (n->kind) {
		case N_EXPR_STMT:
			if (n->l)
				front_expression(c, n, conditional);
			break;
		case N_CASE:
		case N_JUMP:
		case N_RETURN: break;
		case N_SWITCH:
			n->c = front_part(c, n->c);
			front_statements(c, n->l, true);
			break;
		default: /* if, loops, functions */
			if (n->c)
				n->c = front_part(c, n->c);
			front_statements(c, n->args, true);
			front_statements(c, n->l, true);
			front_statements(c, n->r, true);
		}
	}
}

/* ---- the predicate ---- */

static dt_node *both(dt_compiler *cc, dt_node *l, dt_node *r)
{
	dt_node *n;

	if (!l || !r)
		return l ? l : r;
	n = dt_node_op2(cc, T_ANDAND, l, r);
	n->type = dt_intrinsics(cc->types)->int_;
	n->attr = r->attr;
	n->flags |= NF_CHECKED;
	return n;
}

struct halves {
	dt_node *machine, *front;
};

static void halve(struct cut *c, dt_node *n, struct halves *h)
{
	if (n->kind == N_OP2 && n->op == T_ANDAND) {
		halve(c, n->l, h);
		halve(c, n->r, h);
	} else if (!needs_front(c, n) && (!h->front || !of_tree(c, n, may_fault))) {
		h->machine = both(c->cc, h->machine, n);
	} else {
		h->front = both(c->cc, h->front, n);
	}
}

static dt_node *thread(dt_compiler *cc)
{
	dt_node *n = dt_node_new(cc, N_IDENT, (dt_pos){0});

	n->name = "tid";
	return dt_coerce(cc, dt_check(cc, n), dt_intrinsics(cc->types)->int64);
}

void dt_split_clause(dt_compiler *cc, const struct dt_split *s, dt_clause_builder *machine, dt_node **pred)
{
	struct cut c = {.cc = cc, .clause = s->clause, .machine = machine};
	struct halves h = {0};
	dt_rest *rest = dt_arena_alloc(cc->arena, sizeof(*rest));

	study_all(&c, s);
	if (*s->pred)
		halve(&c, *s->pred, &h);
	dt_stmt_add(cc, machine, s->body ? s->body : thread(cc), DT_ST_TRACE, DT_ACT_DIFEXPR);
	dt_action_value(cc, machine, DT_ACT_DIFEXPR, thread(cc)); /* whose self-> it is; and there is always a record */
	note_action(&c, 0);
	*pred = h.machine;
	*s->pred = h.front ? front_part(&c, h.front) : NULL;
	front_statements(&c, s->body, *s->pred != NULL);
	rest->vars = c.vars.v;
	s->clause->rest = rest;
}

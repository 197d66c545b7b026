/*
 * blocks: if, loops and switch -> actions that choose the next one (dif/graph.c).
 *
 *	if (c) A else B			BRANCH c -> 1; A; JUMP 2; 1: B; 2:
 *	for (i; c; s) A			i; BRANCH c -> 2; 1: A; s; AGAIN c -> 1; 2:
 *	switch (e) { case 1: A }	this->%switch = e; BRANCH (this->%switch != 1) -> 1; JUMP 2; 1: A; 2:
 *
 * A loop asks its condition once before the first round (do: not) and then after each, so AGAIN
 * counts exactly the rounds. continue goes to s, break to 2.
 *
 * Two things hold here as they do when an if becomes several clauses (sugar.c), because scripts rely
 * on it: a block with exit() is the last of its firing, and the order rules of commit() and
 * speculate() (action.c) are about a block, since each block has a part of the record to itself.
 */
#include "lang/action.h"

/* ---- checking ---- */

static dt_node *check_condition(dt_compiler *cc, dt_node *n)
{
	dt_node *c = dt_check(cc, n);

	if (!dt_type_is_scalar(c->type) || dt_type_is_float(c->type))
		dt_fail(cc, c->pos, D_OP_SCALAR, "a condition must be of scalar type, not %s",
			dt_tname(cc, c->type));
	return c;
}

/* this->%switch_1 and so on, by the nesting; %choice_1 is for strings. */
static dt_node *switch_variable(dt_compiler *cc, dt_pos pos, bool is_string)
{
	dt_node *n = dt_node_new(cc, N_IDENT, pos);

	n->scope = T_THIS;
	n->name = dt_arena_printf(cc->arena, is_string ? "%%choice_%u" : "%%switch_%u",
				  cc->in_switch);
	return n;
}

static dt_node *convert(dt_compiler *cc, dt_node *n, dt_type *to)
{
	dt_node *cast = dt_node_op1(cc, '(', n);

	cast->ctype = to;
	return cast;
}

/* The type in which C would compare a value of type t. */
static dt_type *promoted(dt_compiler *cc, dt_type *t)
{
	const struct dt_intrinsics *types = dt_intrinsics(cc->types);

	return dt_type_is_integer(t) && dt_type_size(cc->types, t) < 4 ? types->int_ : t;
}

static void check_case(dt_compiler *cc, dt_node *label, dt_type *t, const dt_node *others)
{
	bool is_string = dt_type_is_string(t);
	dt_node *value = dt_check(cc, is_string ? label->c : convert(cc, label->c, t));

	if (value->kind != (is_string ? N_STRING : N_INT))
		dt_fail(cc, label->pos, D_TYPE_ERR, "a case must be a constant %s",
			is_string ? "string" : "integer");
	for (const dt_node *o = others; o != label; o = o->next)
		if (o->kind == N_CASE && o->r &&
		    (is_string ? strcmp(o->str, value->str) == 0 : o->ival == value->ival))
			dt_fail(cc, label->pos, D_TYPE_ERR, "this case is there twice");
	if (is_string) {
		label->str = value->str;
	} else {
		label->ival = value->ival;
		value = dt_node_int(cc, label->pos, value->ival, dt_intrinsics(cc->types)->int64);
	}
	label->r = dt_check(
	    cc, dt_node_op2(cc, T_NE, switch_variable(cc, label->pos, is_string), value));
}

static void check_switch(dt_compiler *cc, dt_node *s)
{
	dt_type *t = dt_check(cc, dt_node_copy(cc, s->c))->type;
	bool is_string = dt_type_is_string(t), has_default = false;
	dt_node *value = s->c;

	if (!is_string && !dt_type_is_integer(t))
		dt_fail(cc, s->c->pos, D_TYPE_ERR,
			"switch needs an integer or a string, not %s", dt_tname(cc, t));
	cc->in_switch++;
	if (!is_string)
		value = convert(cc, value, dt_intrinsics(cc->types)->int64);
	s->c = dt_stmt_check(
	    cc, dt_node_op2(cc, '=', switch_variable(cc, s->c->pos, is_string), value));
	for (dt_node *n = s->l; n; n = n->next) {
		dt_node *next = n->next;

		if (n->kind != N_CASE) {
			n->next = NULL;
			dt_blocks_check(cc, n);
			n->next = next;
		} else if (n->c) {
			check_case(cc, n, promoted(cc, t), s->l);
		} else if (has_default) {
			dt_fail(cc, n->pos, D_SYNTAX, "default is there twice");
		} else {
			has_default = true;
		}
	}
	cc->in_switch--;
}

static void check_loop(dt_compiler *cc, dt_node *n)
{
	dt_blocks_check(cc, n->args);
	if (n->c && n->op != T_DO)
		n->c = check_condition(cc, n->c);
	dt_blocks_check(cc, n->l);
	dt_blocks_check(cc, n->r);
	if (n->c && n->op == T_DO)
		n->c = check_condition(cc, n->c);
}

/* A function at the end of the clause. n->attr: its stability; n->len: it depends on the probe. */
static void check_invoked(dt_compiler *cc, dt_node *n)
{
	const struct dt_ready *r = dt_invoke_ready(cc, n->ival);
	dt_attr outer = cc->clause_attr;
	uint32_t asked = cc->asked;

	cc->clause_attr = dt_best_attr;
	dt_blocks_check(cc, n->l);
	n->attr = r ? r->attr : cc->clause_attr;
	n->len = cc->asked != asked;
	cc->clause_attr = dt_attr_min(outer, n->attr);
}

void dt_blocks_check(dt_compiler *cc, dt_node *list)
{
	for (dt_node *n = list; n; n = n->next) {
		dt_depth_enter(cc, n->pos);
		switch (n->kind) {
		case N_IF:
			n->c = check_condition(cc, n->c);
			dt_blocks_check(cc, n->l);
			dt_blocks_check(cc, n->r);
			break;
		case N_LOOP: check_loop(cc, n); break;
		case N_SWITCH: check_switch(cc, n); break;
		case N_BODY: dt_blocks_check(cc, n->l); break;
		case N_INVOKED: check_invoked(cc, n); break;
		case N_INVOKE:
		case N_JUMP: break;
		default:
			if (n->l)
				n->l = dt_stmt_check(cc, n->l);
		}
		dt_depth_leave(cc);
	}
}

/* ---- actions ---- */

typedef DT_VEC(uint32_t) fixes; /* actions whose target is not known yet */

/* What break and continue leave. */
struct around {
	fixes *breaks, *continues; /* a switch has no continues of its own */
	struct around *outer;
};

struct flow {
	dt_compiler *cc;
	dt_clause_builder *b;
	struct around *around;
	fixes ends; /* jumps to the end of the clause */
	fixes *returns; /* those to the end of a function */
	DT_VEC(struct {
		uint32_t action;
		uint64_t number; /* of the N_INVOKED */
	}) calls;
	uint32_t depth; /* of braces */
};

static void statements(struct flow *f, dt_node *list);

static uint32_t here(const struct flow *f)
{
	return f->b->actions.n;
}

static void patch(struct flow *f, uint32_t action, uint32_t target)
{
	dt_action *a = &f->b->actions.v[action];

	a->arg = (a->arg & ~0xffffffffull) | target;
}

static void new_block(struct flow *f)
{
	f->b->has_commit = f->b->has_record = f->b->has_exit = false;
}

static uint32_t control(struct flow *f, enum dt_act kind, dt_difo *difo, dt_pos pos)
{
	dt_stmt *s = dt_vec_add(&f->b->stmts, f->cc->arena);
	uint32_t at = here(f);

	*s = (dt_stmt){.kind = DT_ST_CONTROL, .first = at, .pos = pos};
	dt_action_add(f->cc, f->b, kind)->difo = difo;
	new_block(f);
	return at;
}

/* The block at hand ends: with exit() in it, so does the clause. */
static void end_block(struct flow *f, dt_pos pos)
{
	if (f->b->has_exit)
		*dt_vec_add(&f->ends, f->cc->arena) = control(f, DT_ACT_JUMP, NULL, pos);
}

/* These actions continue here. */
static void land(struct flow *f, const fixes *from, dt_pos pos)
{
	if (!from->n)
		return;
	end_block(f, pos);
	for (uint32_t i = 0; i < from->n; i++)
		patch(f, from->v[i], here(f));
	new_block(f);
}

static dt_difo *condition(struct flow *f, dt_node *c)
{
	return dt_gen_expr(f->cc, c, true);
}

static void compile_if(struct flow *f, dt_node *n)
{
	fixes no = {0}, over = {0};

	end_block(f, n->pos);
	*dt_vec_add(&no, f->cc->arena) = control(f, DT_ACT_BRANCH, condition(f, n->c), n->c->pos);
	statements(f, n->l);
	if (n->r) {
		end_block(f, n->pos);
		*dt_vec_add(&over, f->cc->arena) = control(f, DT_ACT_JUMP, NULL, n->pos);
		land(f, &no, n->pos);
		statements(f, n->r);
		land(f, &over, n->pos);
	} else {
		land(f, &no, n->pos);
	}
}

static void compile_loop(struct flow *f, dt_node *n)
{
	fixes breaks = {0}, continues = {0};
	struct around a = {&breaks, &continues, f->around};
	uint32_t head, back, loop = f->b->nloops++;
	dt_difo *c;

	if (loop == DT_LOOPS_MAX)
		dt_fail(f->cc, n->pos, D_SYNTAX, "more than %u loops in a clause", DT_LOOPS_MAX);
	statements(f, n->args);
	end_block(f, n->pos);
	c = n->c ? condition(f, n->c) : NULL;
	if (c && n->op != T_DO)
		*dt_vec_add(&breaks, f->cc->arena) = control(f, DT_ACT_BRANCH, c, n->c->pos);
	new_block(f);
	head = here(f);
	f->around = &a;
	statements(f, n->l);
	f->around = a.outer;
	land(f, &continues, n->pos);
	statements(f, n->r);
	end_block(f, n->pos);
	back = control(f, DT_ACT_AGAIN, c, n->c ? n->c->pos : n->pos);
	f->b->actions.v[back].arg = (uint64_t)loop << 32 | head;
	if (!c)
		f->b->stmts.v[f->b->stmts.n - 1].place = dt_place_new(f->cc, n->pos, "for");
	land(f, &breaks, n->pos);
}

static void compile_switch(struct flow *f, dt_node *s)
{
	fixes breaks = {0};
	struct around a = {&breaks, NULL, f->around};
	uint32_t otherwise;
	bool has_default = false;

	a.continues = f->around ? f->around->continues : NULL;
	dt_stmt_compile(f->cc, f->b, s->c);
	for (dt_node *n = s->l; n; n = n->next)
		if (n->kind == N_CASE && n->c) {
			end_block(f, n->pos);
			n->len = control(f, DT_ACT_BRANCH, condition(f, n->r), n->pos);
		}
	end_block(f, s->pos);
	otherwise = control(f, DT_ACT_JUMP, NULL, s->pos);
	f->around = &a;
	for (dt_node *n = s->l; n; n = n->next) {
		dt_node *next = n->next;

		if (n->kind == N_CASE) {
			end_block(f, n->pos);
			new_block(f);
			patch(f, n->c ? n->len : otherwise, here(f));
			has_default = has_default || !n->c;
			continue;
		}
		n->next = NULL;
		statements(f, n);
		n->next = next;
	}
	f->around = a.outer;
	if (!has_default)
		*dt_vec_add(&breaks, f->cc->arena) = otherwise;
	land(f, &breaks, s->pos);
}

static void compile_jump(struct flow *f, const dt_node *n)
{
	fixes *to = n->op == T_BREAK ? f->around->breaks : f->around->continues;

	end_block(f, n->pos);
	*dt_vec_add(to, f->cc->arena) = control(f, DT_ACT_JUMP, NULL, n->pos);
}

static void compile_return(struct flow *f, const dt_node *n)
{
	end_block(f, n->pos);
	*dt_vec_add(f->returns, f->cc->arena) = control(f, DT_ACT_JUMP, NULL, n->pos);
}

static void compile_invoke(struct flow *f, const dt_node *n)
{
	uint32_t i = f->calls.n;

	end_block(f, n->pos);
	dt_vec_add(&f->calls, f->cc->arena);
	f->calls.v[i].action = control(f, DT_ACT_CALL, NULL, n->pos);
	f->calls.v[i].number = n->ival;
}

static void compile_expression(struct flow *f, dt_node *n)
{
	dt_clause_builder *b = f->b;
	uint32_t before = b->stmts.n;

	dt_stmt_compile(f->cc, b, n->l);
	if (b->stmts.n > before && b->stmts.v[before].kind == DT_ST_EXIT)
		b->has_exit = true;
}

/* What is in braces: the scope of speculate(). */
struct braces {
	bool speculating; /* before them */
	fixes scope;
};

static void each(struct flow *f, dt_node *list, struct braces *in);

/* The braces of a function are not such a scope: it is as if its statements were the clause's. */
static void compile_body(struct flow *f, dt_node *n, struct braces *in)
{
	fixes returns = {0}, *outer = f->returns;
	struct around *around = f->around;

	f->returns = &returns;
	f->around = NULL;
	each(f, n->l, in);
	f->around = around;
	f->returns = outer;
	land(f, &returns, n->pos);
}

static void each(struct flow *f, dt_node *list, struct braces *in)
{
	for (dt_node *n = list; n; n = n->next) {
		switch (n->kind) {
		case N_IF: compile_if(f, n); break;
		case N_LOOP: compile_loop(f, n); break;
		case N_SWITCH: compile_switch(f, n); break;
		case N_JUMP: compile_jump(f, n); break;
		case N_BODY: compile_body(f, n, in); break;
		case N_RETURN: compile_return(f, n); break;
		case N_INVOKE: compile_invoke(f, n); break;
		case N_INVOKED: break; /* after all others */
		default:
			if (!n->l)
				break;
			compile_expression(f, n);
			if (f->b->has_speculate && !in->speculating && !in->scope.n && f->depth > 1)
				*dt_vec_add(&in->scope, f->cc->arena) = here(f) - 1;
		}
	}
}

static void statements(struct flow *f, dt_node *list)
{
	struct braces in = {.speculating = f->b->has_speculate};

	f->depth++;
	each(f, list, &in);
	f->depth--;
	f->b->has_speculate = in.speculating;
	land(f, &in.scope, (dt_pos){0});
}

/* ---- functions at the end of the clause ---- */

/* What n has added since `r` was begun: other clauses can have it as it is. */
static void keep(struct flow *f, const dt_node *n, struct dt_ready *r, uint32_t ncalls)
{
	dt_clause_builder *b = f->b;
	DT_VEC(struct dt_ready_call) calls = {0};

	for (uint32_t i = ncalls; i < f->calls.n; i++)
		*dt_vec_add(&calls, f->cc->arena) =
		    dt_invoke_call(f->cc, f->calls.v[i].number, f->calls.v[i].action - r->first);
	r->nactions = here(f) - r->first;
	r->actions = dt_arena_dup(f->cc->arena, b->actions.v + r->first, r->nactions * sizeof(*r->actions));
	r->nstmts = b->stmts.n - r->nstmts;
	r->stmts = dt_arena_dup(f->cc->arena, b->stmts.v + b->stmts.n - r->nstmts, r->nstmts * sizeof(*r->stmts));
	r->nloops = b->nloops - r->loop;
	r->calls = calls.v;
	r->ncalls = calls.n;
	r->attr = n->attr;
	r->has_agg = b->has_agg;
	dt_invoke_keep(f->cc, n->ival, r);
}

static void add_loops(struct flow *f, uint32_t n, dt_pos pos)
{
	f->b->nloops += n;
	if (f->b->nloops > DT_LOOPS_MAX)
		dt_fail(f->cc, pos, D_SYNTAX, "more than %u loops in a clause", DT_LOOPS_MAX);
}

/* As an earlier clause has it: what is numbered in the clause has other numbers here. */
static void paste_ready(struct flow *f, const struct dt_ready *r, dt_pos pos)
{
	dt_clause_builder *b = f->b;
	uint32_t first = here(f), loop = b->nloops;

	add_loops(f, r->nloops, pos);
	for (uint32_t i = 0; i < r->nactions; i++) {
		dt_action *a = dt_vec_add(&b->actions, f->cc->arena);
		enum dt_effect e = dt_act(r->actions[i].kind)->effect;

		*a = r->actions[i];
		if (e == DT_EFFECT_BRANCH || e == DT_EFFECT_JUMP || e == DT_EFFECT_AGAIN)
			a->arg += first - r->first;
		if (e == DT_EFFECT_AGAIN)
			a->arg += (uint64_t)(loop - r->loop) << 32;
	}
	for (uint32_t i = 0; i < r->nstmts; i++) {
		dt_stmt *s = dt_vec_add(&b->stmts, f->cc->arena);

		*s = r->stmts[i];
		s->first += first - r->first;
	}
	for (uint32_t i = 0; i < r->ncalls; i++) {
		uint32_t at = f->calls.n;

		dt_vec_add(&f->calls, f->cc->arena);
		f->calls.v[at].action = first + r->calls[i].action;
		f->calls.v[at].number = dt_invoke_number(f->cc, &r->calls[i]);
	}
	b->has_agg = b->has_agg || r->has_agg;
	new_block(f);
}

static void compile_new(struct flow *f, dt_node *n)
{
	struct dt_ready r = {.first = here(f), .nstmts = f->b->stmts.n, .loop = f->b->nloops};
	bool has_agg = f->b->has_agg;
	uint32_t ncalls = f->calls.n;
	struct braces in = {0};
	fixes returns = {0};

	f->returns = &returns;
	f->depth = 2;
	f->b->has_agg = false;
	each(f, n->l, &in);
	land(f, &returns, n->pos);
	end_block(f, n->pos);
	control(f, DT_ACT_RETURN, NULL, n->pos);
	f->b->stmts.v[f->b->stmts.n - 1].place = dt_place_new(f->cc, n->pos, n->name);
	dt_gen_share_body(f->cc, n->ident->inl, f->b->actions.v + r.first, here(f) - r.first);
	if (!n->len)
		keep(f, n, &r, ncalls);
	f->b->has_agg = f->b->has_agg || has_agg;
}

/* And its calls. */
static void compile_invoked(struct flow *f, dt_node *n, uint32_t number)
{
	const struct dt_ready *r = dt_invoke_ready(f->cc, n->ival);
	uint64_t at;

	end_block(f, n->pos);
	if (number == 0)
		*dt_vec_add(&f->ends, f->cc->arena) = control(f, DT_ACT_JUMP, NULL, n->pos);
	new_block(f);
	at = (uint64_t)number << 32 | here(f);
	if (r)
		paste_ready(f, r, n->pos);
	else
		compile_new(f, n);
	f->b->actions.v[here(f) - 1].arg = at;
	for (uint32_t i = 0; i < f->calls.n; i++)
		if (f->calls.v[i].number == n->ival)
			f->b->actions.v[f->calls.v[i].action].arg = at;
}

void dt_blocks_compile(dt_compiler *cc, dt_clause_builder *b, dt_node *list)
{
	struct flow f = {.cc = cc, .b = b};
	uint32_t number = 0;

	statements(&f, list);
	for (dt_node *n = list; n; n = n->next)
		if (n->kind == N_INVOKED)
			compile_invoked(&f, n, number++);
	for (uint32_t i = 0; i < f.ends.n; i++)
		patch(&f, f.ends.v[i], here(&f));
}

/*
 * gen_common: which values an expression needs more than once.
 *
 * Before code is generated, the tree is scanned: expressions without side effects that compute the
 * same value form a class, and each class counts the places that need it. When the first of them
 * has been computed and others are still to come, the value is remembered in its register
 * (gen_reg.c gives it up under pressure). So `curthread->mm && curthread->mm->map_count > 3` loads
 * curthread->mm once, and a value that is needed only once costs nothing extra.
 *
 * A store or a call may change memory and variables: after it only values computed from built-in
 * variables and constants are still known.
 *
 * Places are counted as the generator will visit them: inside an expression that is itself
 * remembered, nothing is counted a second time. A value that must be computed again, since its
 * register was needed or another path computed it, is counted again then. A wrong count is harmless:
 * a value is remembered unnecessarily, or computed again.
 */
#include "lang/gen.h"

enum { LIST_CELL = 1000 }; /* pseudo node kind: one key and the rest of the keys */

struct common_lookup {
	const dt_gen *g;
	const dt_common *want;
};

static bool same_common(const void *ctx, uint32_t pos)
{
	const struct common_lookup *l = ctx;
	const dt_common *x = &l->g->commons.v[pos], *y = l->want;

	return x->kind == y->kind && x->op == y->op && x->a == y->a && x->b == y->b &&
	       x->c == y->c && x->extra == y->extra && x->type == y->type;
}

static uint32_t common_hash(const dt_common *c)
{
	uint64_t h = (uint64_t)c->kind * 31 + (uint64_t)c->op;

	h = h * 0x9e3779b97f4a7c15u + c->a;
	h = h * 0x9e3779b97f4a7c15u + c->b;
	h = h * 0x9e3779b97f4a7c15u + c->c;
	h = h * 0x9e3779b97f4a7c15u + c->extra;
	h = h * 0x9e3779b97f4a7c15u + (uintptr_t)c->type;
	return (uint32_t)(h >> 32) ^ (uint32_t)h;
}

static uint32_t intern(dt_gen *g, const dt_common *c)
{
	struct common_lookup l = {g, c};
	uint32_t hash = common_hash(c);
	uint32_t pos = dt_index_find(&g->common_ix, hash, same_common, &l);

	if (pos != UINT32_MAX)
		return pos;
	if (g->commons.n == 0)
		dt_vec_add(&g->commons, g->arena); /* class 0 is "none" */
	*dt_vec_add(&g->commons, g->arena) = *c;
	dt_index_add(&g->common_ix, g->arena, hash, g->commons.n - 1);
	return g->commons.n - 1;
}

/* ---- node -> class ---- */
struct node_lookup {
	const dt_gen *g;
	const dt_node *node;
};

static bool same_node(const void *ctx, uint32_t pos)
{
	const struct node_lookup *l = ctx;

	return l->g->nodes.v[pos].node == l->node;
}

static uint32_t node_hash(const dt_node *n)
{
	return (uint32_t)(((uintptr_t)n >> 4) * 0x9e3779b97f4a7c15u >> 32);
}

static uint32_t class_of(const dt_gen *g, const dt_node *n)
{
	struct node_lookup l = {g, n};
	uint32_t pos = dt_index_find(&g->node_ix, node_hash(n), same_node, &l);

	return pos == UINT32_MAX ? 0 : g->nodes.v[pos].common;
}

static uint32_t classify(dt_gen *g, const dt_node *n);

static bool is_stable(const dt_gen *g, uint32_t c)
{
	return c == 0 || g->commons.v[c].stable;
}

/* The keys of an array: the class of a chain of cells. False if a key has effects. */
static bool classify_list(dt_gen *g, const dt_node *list, uint32_t *out)
{
	dt_common cell = {.kind = LIST_CELL};
	bool pure = true;

	*out = 0;
	for (; list; list = list->next) {
		cell.a = classify(g, list);
		if (cell.a == 0)
			pure = false;
		cell.b = *out;
		cell.stable = is_stable(g, cell.a) && is_stable(g, cell.b);
		if (pure)
			*out = intern(g, &cell);
	}
	return pure;
}

/* Does the node itself read something that a store or call could change? */
static bool reads_memory(const dt_node *n)
{
	if (n->kind == N_VAR)
		return !(n->ident->flags & IDF_BUILTIN);
	if (n->flags & NF_REF)
		return false; /* an address */
	return n->kind == N_SYM || (n->kind == N_OP1 && n->op == '*') ||
	       (n->kind == N_OP2 && (n->op == '.' || n->op == T_ARROW || n->op == '['));
}

static bool has_effects(const dt_node *n)
{
	if (n->kind == N_FUNC || n->kind == N_XLATE || (n->flags & NF_SHARED))
		return true;
	if (n->kind == N_OP1)
		return dt_is_step_op(n->op);
	return n->kind == N_OP2 && (dt_is_assign_op(n->op) || n->op == ',');
}

/* Worth a register until the next use? Constants are not; truth values mostly never exist as
 * values (gen.c jumps instead), so it is their operands that count. */
static bool worth_keeping(const dt_node *n)
{
	switch (n->kind) {
	case N_INT:
	case N_STRING: return false;
	case N_SYM: return !(n->flags & NF_REF);
	case N_OP1: return n->op != '!';
	case N_OP2:
		return n->op != T_EQ && n->op != T_NE && n->op != '<' && n->op != '>' &&
		       n->op != T_LE && n->op != T_GE && n->op != T_ANDAND && n->op != T_OROR;
	default: return true;
	}
}

static uint64_t own_part(const dt_node *n)
{
	switch (n->kind) {
	case N_INT: return n->ival;
	case N_STRING: return (uintptr_t)n->str;
	case N_SYM: return (uintptr_t)n->name; /* interned or not: at worst computed again */
	case N_VAR: return (uintptr_t)n->ident;
	default: return n->offset << 16 | n->bit_offset << 8 | n->bit_width;
	}
}

static uint32_t classify_node(dt_gen *g, const dt_node *n)
{
	dt_common c = {.kind = (int)n->kind, .op = n->op, .type = n->type, .extra = own_part(n)};
	bool pure = !has_effects(n);

	if (n->flags & NF_SHARED)
		return 0; /* a DIFO of its own */
	if (n->kind == N_VAR || n->kind == N_FUNC) {
		pure &= classify_list(g, n->args, &c.a);
	} else {
		const dt_node *child[3] = {n->l, n->r, n->c};
		uint32_t *out[3] = {&c.a, &c.b, &c.c};
		for (int i = 0; i < 3; i++) {
			if (child[i])
				pure &= (*out[i] = classify(g, child[i])) != 0;
		}
	}
	if (!pure)
		return 0;
	c.stable = is_stable(g, c.a) && is_stable(g, c.b) && is_stable(g, c.c) && !reads_memory(n);
	c.keep = worth_keeping(n);
	return intern(g, &c);
}

static uint32_t classify(dt_gen *g, const dt_node *n)
{
	uint32_t c = class_of(g, n);

	if (c)
		return c;
	c = classify_node(g, n);
	if (c) {
		*dt_vec_add(&g->nodes, g->arena) = (struct dt_gen_node){n, c};
		dt_index_add(&g->node_ix, g->arena, node_hash(n), g->nodes.n - 1);
	}
	return c;
}

/* ---- counting ---- */
static void count(dt_gen *g, const dt_node *n);

/* As dt_gen_addr() walks: members of members are one address. */
static void count_addr(dt_gen *g, const dt_node *n)
{
	if (n->kind == N_OP2 && n->op == '.') {
		count_addr(g, n->l);
	} else if (n->kind == N_OP2 && n->op == T_ARROW) {
		count(g, n->l);
	} else if (n->kind == N_OP2 && n->op == '[') {
		if (dt_gen_is_ref(n->l))
			count_addr(g, n->l);
		else
			count(g, n->l);
		count(g, n->r);
	} else if (n->kind == N_OP1 && n->op == '*') {
		count(g, n->l);
	} else if (n->kind != N_SYM) {
		count(g, n);
	}
}

static bool is_memory(const dt_node *n)
{
	return (n->kind == N_OP2 && (n->op == '.' || n->op == T_ARROW || n->op == '[')) ||
	       (n->kind == N_OP1 && n->op == '*');
}

static void count_children(dt_gen *g, const dt_node *n)
{
	if (n->flags & NF_SHARED)
		return;
	if (is_memory(n)) {
		count_addr(g, n);
		return;
	}
	if (n->kind == N_OP1 && n->op == '&') {
		count_addr(g, n->l);
		return;
	}
	for (const dt_node *a = n->args; a && (n->kind == N_VAR || n->kind == N_FUNC); a = a->next)
		count(g, a);
	if (n->c)
		count(g, n->c);
	if (n->l && (n->kind == N_OP1 || n->kind == N_OP2) && n->op != ',' && has_effects(n))
		count_children(g, n->l); /* a target is not read as a whole */
	else if (n->l)
		count(g, n->l);
	if (n->r)
		count(g, n->r);
}

static void count(dt_gen *g, const dt_node *n)
{
	uint32_t c = class_of(g, n);

	if (c && g->commons.v[c].keep) {
		if (g->commons.v[c].uses++ > 0)
			return;
		g->commons.v[c].counted = true;
	}
	count_children(g, n);
}

void dt_common_scan(dt_gen *g, const dt_node *n)
{
	if (n->kind == N_INT || n->kind == N_STRING || (n->kind == N_VAR && !n->args))
		return; /* nothing to find */
	classify(g, n);
	count(g, n);
}

/* ---- using ---- */
dt_val *dt_common_find(dt_gen *g, const dt_node *n, uint32_t *common)
{
	uint32_t c = g->nodes.n ? class_of(g, n) : 0;
	dt_common *cl;

	*common = 0;
	if (!c)
		return NULL;
	cl = &g->commons.v[c];
	if (!cl->keep)
		return NULL;
	*common = c;
	if (cl->uses > 0)
		cl->uses--;
	for (int r = 1; r < g->nregs; r++) {
		dt_val *v = g->reg[r];
		if (!v || v->common != c)
			continue;
		dt_val_hold(v);
		return v;
	}
	if (!cl->counted)
		count_children(g, n);
	cl->counted = false;
	return NULL;
}

void dt_common_keep(dt_gen *g, uint32_t common, dt_val *v)
{
	if (common && g->commons.v[common].uses > 0 && !v->common && v->reg && v->refs == 1)
		v->common = common;
}

void dt_common_forget(dt_gen *g)
{
	for (int r = 1; r < g->nregs; r++) {
		dt_val *v = g->reg[r];
		if (!v || !v->common || g->commons.v[v->common].stable)
			continue;
		v->common = 0;
		if (v->refs == 0) { /* it is not needed: a reference to drop frees the register */
			dt_val_hold(v);
			dt_val_drop(g, v);
		}
	}
}

/*
 * gen_reg: values and the registers they live in.
 *
 * DIF has seven usable registers (r0 is zero). A value holds one from the moment it is made until
 * its last reference is dropped. When none is free, a value that is only remembered for a later use
 * (gen_common.c) gives up its register; failing that, the oldest value in use is spilled to a
 * hidden clause-local variable, `this->%spillN`, and loaded again when it is needed. In an
 * expression the oldest value is the one needed last, so each is spilled at most once, and the
 * depth of an expression is not limited by the number of registers.
 *
 * Conditional code. Two paths that meet must agree on the contents of registers. The first branch
 * of a conditional records the registers in use (dt_fork); values that a path has spilled since are
 * loaded again before the path ends (dt_fork_restore), so that they match the other path, which did
 * not spill them. Stores, loads and moves do not touch the flags, so this may be done between a
 * comparison and its branch. Values first remembered on one path are forgotten where the paths
 * meet.
 */
#include "lang/gen.h"

/* ---- slots for spilled values ---- */
static dt_ident *slot_get(dt_gen *g)
{
	dt_compiler *cc = g->cc;
	const char *name;
	dt_ident *id;

	if (g->free_slots.n)
		return g->free_slots.v[--g->free_slots.n];
	name = dt_arena_printf(g->arena, "%%spill%u", g->nslots++);
	id = dt_ident_find(cc, name, T_THIS);
	if (!id) {
		id = dt_ident_new(cc, name, ID_SCALAR, T_THIS, g->pos);
		id->type = dt_intrinsics(cc->types)->uint64;
		id->flags |= IDF_SPILL | IDF_TYPED;
	}
	return id;
}

static void put_away(dt_gen *g, dt_val *v)
{
	v->common = 0;
	v->slot = slot_get(g);
	dt_var_touch(g, v->slot, DT_VARF_WRITE);
	dt_emit(g, DT_I_IDX(DT_OP_STLS, v->slot->id, v->reg));
	g->reg[v->reg] = NULL;
	v->reg = 0;
}

static void fetch(dt_gen *g, dt_val *v, int reg)
{
	dt_var_touch(g, v->slot, DT_VARF_READ);
	dt_emit(g, DT_I_IDX(DT_OP_LDLS, v->slot->id, reg));
	*dt_vec_add(&g->free_slots, g->arena) = v->slot;
	v->slot = NULL;
	v->reg = reg;
	g->reg[reg] = v;
}

/* ---- values ---- */
static void val_release(dt_gen *g, dt_val *v)
{
	if (v->reg)
		g->reg[v->reg] = NULL;
	else
		*dt_vec_add(&g->free_slots, g->arena) = v->slot;
	v->reg = 0;
	v->slot = NULL;
	v->common = 0;
	v->next = g->unused;
	g->unused = v;
}

/* Stop remembering v; it may still be in use. */
static void val_forget(dt_gen *g, dt_val *v)
{
	v->common = 0;
	if (v->refs == 0)
		val_release(g, v);
}

void dt_val_hold(dt_val *v)
{
	v->refs++;
}

/* Is it for a later use? What is remembered without one costs nothing: it is given up when nobody holds it. */
static bool is_wanted(const dt_gen *g, const dt_val *v)
{
	return v->common && g->commons.v[v->common].uses > 0;
}

void dt_val_drop(dt_gen *g, dt_val *v)
{
	if (--v->refs == 0 && !is_wanted(g, v))
		val_release(g, v);
}

static dt_val *oldest(dt_gen *g, bool in_use)
{
	dt_val *best = NULL;

	for (int r = 1; r < g->nregs; r++) {
		dt_val *v = g->reg[r];
		if (v && !v->pins && (v->refs > 0) == in_use && (!best || v->seq < best->seq))
			best = v;
	}
	return best;
}

static int reg_free(dt_gen *g)
{
	dt_val *v;
	int r;

	for (r = 1; r < g->nregs; r++)
		if (!g->reg[r])
			return r;
	if ((v = oldest(g, false))) {
		r = v->reg;
		val_forget(g, v);
		return r;
	}
	v = oldest(g, true);
	if (!v)
		dt_fail(g->cc, g->pos, D_NOREG,
			"the expression needs more than %d registers (-x iregs)", g->nregs);
	r = v->reg;
	put_away(g, v);
	return r;
}

static dt_val *val_alloc(dt_gen *g, int reg)
{
	dt_val *v = g->unused;

	if (v)
		g->unused = v->next;
	else
		v = dt_arena_alloc(g->arena, sizeof(*v));
	*v = (dt_val){.reg = reg, .refs = 1, .seq = ++g->seq};
	g->reg[reg] = v;
	return v;
}

dt_val *dt_val_new(dt_gen *g)
{
	return val_alloc(g, reg_free(g));
}

int dt_val_reg(dt_gen *g, dt_val *v)
{
	if (!v->reg)
		fetch(g, v, reg_free(g));
	return v->reg;
}

int dt_val_pin(dt_gen *g, dt_val *v)
{
	int r = dt_val_reg(g, v);

	v->pins++;
	return r;
}

void dt_val_unpin(dt_val *v)
{
	v->pins--;
}

static bool only_ours(const dt_gen *g, const dt_val *v)
{
	return v->refs == 1 && !is_wanted(g, v);
}

/* v's register now holds a new value. */
static dt_val *reuse(dt_gen *g, dt_val *v)
{
	v->seq = ++g->seq;
	v->pins = 0;
	v->common = 0;
	return v;
}

/* Can reg_free() find one? */
static bool has_room(dt_gen *g)
{
	for (int r = 1; r < g->nregs; r++)
		if (!g->reg[r] || !g->reg[r]->pins)
			return true;
	return false;
}

dt_val *dt_val_result(dt_gen *g, dt_val *l, dt_val *r)
{
	dt_val *d;

	if (r == l) {
		r->refs--;
		r->pins--;
		r = NULL;
	}
	if (l->refs == 1 && !has_room(g))
		l->common = 0; /* few registers (-x iregs): remember nothing */
	if (only_ours(g, l)) {
		if (r) {
			r->pins--;
			dt_val_drop(g, r);
		}
		return reuse(g, l);
	}
	if (r && only_ours(g, r)) {
		l->pins--;
		dt_val_drop(g, l);
		return reuse(g, r);
	}
	d = dt_val_new(g);
	l->pins--;
	dt_val_drop(g, l);
	if (r) {
		r->pins--;
		dt_val_drop(g, r);
	}
	return d;
}

dt_val *dt_val_op1(dt_gen *g, enum dt_op op, dt_val *l)
{
	int a = dt_val_pin(g, l);
	dt_val *d = dt_val_result(g, l, NULL);

	dt_emit(g, DT_I_FMT(op, a, 0, d->reg));
	return d;
}

dt_val *dt_val_op2(dt_gen *g, enum dt_op op, dt_val *l, dt_val *r)
{
	int a = dt_val_pin(g, l), b = dt_val_pin(g, r);
	dt_val *d = dt_val_result(g, l, r);

	dt_emit(g, DT_I_FMT(op, a, b, d->reg));
	return d;
}

dt_val *dt_val_const(dt_gen *g, uint64_t c)
{
	dt_val *v = dt_val_new(g);

	dt_emit(g, DT_I_IDX(DT_OP_SETX, dt_int_index(g, c), v->reg));
	return v;
}

dt_val *dt_val_own(dt_gen *g, dt_val *v)
{
	if (!only_ours(g, v))
		return dt_val_op1(g, DT_OP_MOV, v);
	v->common = 0;
	return v;
}

/* ---- conditional code ---- */
void dt_fork_here(dt_gen *g, dt_fork *f)
{
	bool room = false;

	if (f->taken)
		return;
	/* The paths need a register for their result that no outer value holds. */
	for (int r = 1; r < g->nregs; r++)
		room |= !g->reg[r] || g->reg[r]->refs == 0;
	if (!room)
		reg_free(g);
	for (int r = 1; r < g->nregs; r++) {
		dt_val *v = g->reg[r];
		f->live[r] = v && v->refs > 0 ? v : NULL;
		f->remembered[r] = v && v->common ? v->seq : 0;
	}
	f->taken = true;
}

/* A register that no value lives in: dt_fork_here() made sure there is one. If a value from before
 * the fork is in it, that one is spilled. */
static int reg_outside(dt_gen *g, const dt_fork *f)
{
	int home = 0;

	for (int r = 1; r < g->nregs; r++) {
		if (f->live[r])
			continue;
		if (!g->reg[r] || g->reg[r]->refs == 0)
			return r;
		home = r;
	}
	put_away(g, g->reg[home]);
	return home;
}

void dt_val_move_to(dt_gen *g, dt_val *v, int reg)
{
	if (v->reg == reg)
		return;
	if (g->reg[reg])
		val_forget(g, g->reg[reg]);
	dt_emit(g, DT_I_FMT(DT_OP_MOV, v->reg, 0, reg));
	g->reg[v->reg] = NULL;
	g->reg[reg] = v;
	v->reg = reg;
}

void dt_fork_restore(dt_gen *g, dt_fork *f, dt_val *keep)
{
	for (int r = 1; r < g->nregs; r++) {
		dt_val *want = f->live[r], *here = g->reg[r];

		if (!want || here == want)
			continue;
		if (here == keep && here)
			dt_val_move_to(g, here, reg_outside(g, f));
		else if (here && here->refs == 0)
			val_forget(g, here);
		else if (here)
			put_away(g, here); /* its own turn comes */
		if (want->reg)
			dt_val_move_to(g, want, r);
		else
			fetch(g, want, r);
	}
}

/* Only values that every path remembers are still known. */
static void keep_remembered(dt_gen *g, const dt_fork *f)
{
	for (int r = 1; r < g->nregs; r++) {
		dt_val *v = g->reg[r];
		if (v && v->common && f->remembered[r] != v->seq)
			val_forget(g, v);
	}
}

void dt_fork_branch(dt_gen *g, dt_fork *f, enum dt_op op, uint32_t label)
{
	if (f->taken)
		dt_fork_restore(g, f, NULL);
	else
		dt_fork_here(g, f);
	dt_emit_branch(g, op, label);
}

void dt_fork_label(dt_gen *g, dt_fork *f, uint32_t label)
{
	dt_label_here(g, label);
	keep_remembered(g, f);
}

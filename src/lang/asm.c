/*
 * asm: collects the instructions and tables of one DIFO.
 *
 * Branches name labels while code is generated; dt_assemble() replaces them by instruction numbers.
 * Integers and strings are entered once, however often they are used. The variable table has a row
 * for each variable touched, in the order of first use; the names follow the program's own strings
 * in the string table.
 */
#include "lang/gen.h"

#define INDEX_MAX 0xffff /* what fits the 16-bit operand of setx and sets */

/* ---- index ---- */
uint32_t dt_index_find(const dt_index *ix, uint32_t hash, bool (*eq)(const void *ctx, uint32_t pos),
		       const void *ctx)
{
	if (ix->n == 0)
		return UINT32_MAX;
	for (uint32_t i = hash;; i++) {
		uint32_t at = i & (ix->cap - 1);
		if (ix->slots[at].pos == 0)
			return UINT32_MAX;
		if (ix->slots[at].hash == hash && eq(ctx, ix->slots[at].pos - 1))
			return ix->slots[at].pos - 1;
	}
}

static void index_put(dt_index *ix, uint32_t hash, uint32_t pos)
{
	uint32_t i = hash & (ix->cap - 1);

	while (ix->slots[i].pos != 0)
		i = (i + 1) & (ix->cap - 1);
	ix->slots[i].hash = hash;
	ix->slots[i].pos = pos;
}

void dt_index_add(dt_index *ix, dt_arena *a, uint32_t hash, uint32_t pos)
{
	if (ix->n * 2 >= ix->cap) {
		dt_index old = *ix;
		ix->cap = old.cap ? old.cap * 2 : 8;
		ix->slots = dt_arena_alloc(a, ix->cap * sizeof(*ix->slots));
		for (uint32_t i = 0; i < old.cap; i++)
			if (old.slots[i].pos)
				index_put(ix, old.slots[i].hash, old.slots[i].pos);
	}
	index_put(ix, hash, pos + 1);
	ix->n++;
}

/* ---- where in the source ---- */

static dt_pos full_pos(const dt_compiler *cc, dt_pos pos)
{
	if (pos.file)
		return pos;
	if (!cc->src->is_cmdline)
		pos.file = cc->prog->name;
	else if (cc->one_line)
		pos.line = 0;
	return pos;
}

bool dt_place_of(dt_gen *g, const dt_node *n, uint32_t at, dt_place *out)
{
	while (n && n->use)
		n = n->use;
	if (!n || !n->from || !g->cc->src)
		return false;
	*out = (dt_place){.at = at, .pos = full_pos(g->cc, n->pos), .text = n->from, .len = n->written};
	return true;
}

const dt_place *dt_place_new(dt_compiler *cc, dt_pos pos, const char *text)
{
	dt_place *p = dt_arena_alloc(cc->arena, sizeof(*p));

	*p = (dt_place){.at = DT_PLACE_WHOLE, .pos = full_pos(cc, pos), .text = text, .len = (uint32_t)strlen(text)};
	return p;
}

/* ---- text ---- */
void dt_emit(dt_gen *g, dt_instr i)
{
	dt_place place;

	if (dt_op_can_fault(DT_I_OP(i)) && dt_place_of(g, g->node, g->text.n, &place))
		*dt_vec_add(&g->places, g->arena) = place;
	*dt_vec_add(&g->text, g->arena) = i;
}

uint32_t dt_label_new(dt_gen *g)
{
	*dt_vec_add(&g->labels, g->arena) = UINT32_MAX;
	return g->labels.n - 1;
}

void dt_label_here(dt_gen *g, uint32_t label)
{
	g->labels.v[label] = g->text.n;
}

void dt_emit_branch(dt_gen *g, enum dt_op op, uint32_t label)
{
	dt_emit(g, DT_I_BR(op, label));
}

/* ---- tables ---- */
struct lookup {
	dt_gen *g;
	uint64_t number;
	const char *text;
};

static bool same_int(const void *ctx, uint32_t pos)
{
	const struct lookup *l = ctx;

	return l->g->ints.v[pos] == l->number;
}

static uint32_t hash_number(uint64_t v)
{
	v *= 0x9e3779b97f4a7c15u;
	return (uint32_t)(v >> 32);
}

static uint32_t add_int(dt_gen *g, uint64_t v)
{
	if (g->ints.n > INDEX_MAX)
		dt_fail(g->cc, g->pos, D_UNKNOWN, "%s", dt_strerror(EDT_INT2BIG));
	*dt_vec_add(&g->ints, g->arena) = v;
	return g->ints.n - 1;
}

uint32_t dt_int_index(dt_gen *g, uint64_t v)
{
	struct lookup l = {.g = g, .number = v};
	uint32_t pos = dt_index_find(&g->int_ix, hash_number(v), same_int, &l);

	if (pos == UINT32_MAX) {
		pos = add_int(g, v);
		dt_index_add(&g->int_ix, g->arena, hash_number(v), pos);
	}
	return pos;
}

uint32_t dt_int_reloc(dt_gen *g, const char *name, uint64_t addend)
{
	dt_reloc r = {.name = dt_string_offset(g, name), .data = addend};

	r.index = add_int(g, addend);
	*dt_vec_add(&g->relocs, g->arena) = r;
	return r.index;
}

static bool same_string(const void *ctx, uint32_t pos)
{
	const struct lookup *l = ctx;

	return strcmp(l->g->strings.v + l->g->string_at.v[pos], l->text) == 0;
}

static void add_chars(dt_gen *g, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		*dt_vec_add(&g->strings, g->arena) = s[i];
}

/* The table begins with a NUL: offset 0 is the empty string. */
uint32_t dt_string_offset(dt_gen *g, const char *s)
{
	struct lookup l = {.g = g, .text = s};
	uint32_t hash = (uint32_t)dt_hash_bytes(s, strlen(s)), pos;

	if (g->strings.n == 0)
		add_chars(g, "", 1);
	if (*s == '\0')
		return 0;
	pos = dt_index_find(&g->string_ix, hash, same_string, &l);
	if (pos != UINT32_MAX)
		return g->string_at.v[pos];
	if (g->strings.n > INDEX_MAX)
		dt_fail(g->cc, g->pos, D_UNKNOWN, "%s", dt_strerror(EDT_STR2BIG));
	*dt_vec_add(&g->string_at, g->arena) = g->strings.n;
	add_chars(g, s, strlen(s) + 1);
	dt_index_add(&g->string_ix, g->arena, hash, g->string_at.n - 1);
	return g->string_at.v[g->string_at.n - 1];
}

static bool same_var(const void *ctx, uint32_t pos)
{
	const struct lookup *l = ctx;

	return (uintptr_t)l->g->vars.v[pos].id == l->number;
}

void dt_var_touch(dt_gen *g, dt_ident *id, uint16_t flags)
{
	struct lookup l = {.g = g, .number = (uintptr_t)id};
	uint32_t hash = id->id * 8 + (uint32_t)id->scope;
	uint32_t pos = dt_index_find(&g->var_ix, hash, same_var, &l);

	if (pos == UINT32_MAX) {
		pos = g->vars.n;
		dt_vec_add(&g->vars, g->arena)->id = id;
		dt_index_add(&g->var_ix, g->arena, hash, pos);
	}
	g->vars.v[pos].flags |= flags;
}

/* ---- the DIFO ---- */
static bool is_branch(dt_instr i)
{
	return DT_I_OP(i) >= DT_OP_BA && DT_I_OP(i) <= DT_OP_BLEU;
}

static dt_difvar var_row(dt_gen *g, const struct dt_gen_var *v)
{
	dt_type *t = v->id->type;

	if (!t || dt_type_is_dyn(t)) /* args[]: each element has its own type */
		t = dt_intrinsics(g->cc->types)->uint64;
	return (dt_difvar){
	    .name = dt_string_offset(g, v->id->name),
	    .id = v->id->id,
	    .kind = v->id->kind == ID_ARRAY ? DT_VAR_ARRAY : DT_VAR_SCALAR,
	    .scope = (uint8_t)v->id->scope,
	    .flags = v->flags,
	    .type = dt_diftype_of(g->cc, t),
	};
}

dt_difo *dt_assemble(dt_gen *g)
{
	dt_arena *a = g->cc->arena; /* the DIFO outlives the generator's scratch */
	dt_difo *d = dt_arena_alloc(a, sizeof(*d));

	for (uint32_t i = 0; i < g->text.n; i++)
		if (is_branch(g->text.v[i]))
			g->text.v[i] =
			    DT_I_BR(DT_I_OP(g->text.v[i]), g->labels.v[DT_I_LABEL(g->text.v[i])]);
	if (g->vars.n)
		d->vars = dt_arena_alloc(a, g->vars.n * sizeof(*d->vars));
	for (uint32_t i = 0; i < g->vars.n; i++)
		d->vars[i] = var_row(g, &g->vars.v[i]);
	dt_string_offset(g, ""); /* even an empty table has its NUL */
	d->nvars = g->vars.n;
	d->text = dt_arena_dup(a, g->text.v, g->text.n * sizeof(*d->text));
	d->len = g->text.n;
	d->inttab = dt_arena_dup(a, g->ints.v, g->ints.n * sizeof(*d->inttab));
	d->intlen = g->ints.n;
	d->strtab = dt_arena_dup(a, g->strings.v, g->strings.n * sizeof(*d->strtab));
	d->strlen = g->strings.n;
	d->relocs = dt_arena_dup(a, g->relocs.v, g->relocs.n * sizeof(*d->relocs));
	d->nrelocs = g->relocs.n;
	d->functions = dt_arena_dup(a, g->functions.v, g->functions.n * sizeof(dt_difo *));
	d->nfunctions = g->functions.n;
	d->places = dt_arena_dup(a, g->places.v, g->places.n * sizeof(*d->places));
	d->nplaces = g->places.n;
	return d;
}

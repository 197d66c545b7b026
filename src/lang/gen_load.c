/*
 * gen_load: addresses and loads; variables; calls.
 *
 * A string, array, struct or union is represented by its address. Anything else is loaded by size
 * and sign. User memory (NF_USER) has its own loads.
 *
 *   p->a.b[3].c      value of p; setx offset; add; ld      (constant offsets are added up)
 *   x                ldgs x
 *   a[k1, k2]        k1, k2 in registers; flushts; pushtv k1; pushtr k2; ldgaa a
 *   f(a1, a2)        the same with call f
 */
#include "lang/gen.h"

bool dt_gen_is_ref(const dt_node *n)
{
	return (n->flags & NF_REF) || dt_type_is_byref(n->type);
}

static dt_val *add_const(dt_gen *g, dt_val *v, uint64_t c)
{
	return c ? dt_val_op2(g, DT_OP_ADD, v, dt_val_const(g, c)) : v;
}

/* ---- external symbols ---- */

/* A symbol without an address leaves a relocation. This is for programs that are written to a file
 * (-x kdefs), and for users who cannot see kernel addresses. */
static bool may_stay_unresolved(dt_gen *g)
{
	const struct dt_probe_source *ps = &g->cc->probes;
	uint64_t addr;

	if (dt_opt(g->cc->opts, DT_O_KNODEFS))
		return false;
	return dt_opt(g->cc->opts, DT_O_KDEFS) || !ps->symbol ||
	       ps->symbol(ps->arg, NULL, "_text", &addr) != 0;
}

static dt_val *symbol_addr(dt_gen *g, const dt_node *n, uint64_t plus)
{
	const struct dt_probe_source *ps = &g->cc->probes;
	const char *module = n->module && n->module[0] ? n->module : NULL;
	uint64_t addr;
	uint32_t index;
	dt_val *v;

	if (ps->symbol && ps->symbol(ps->arg, module, n->name, &addr) == 0)
		return dt_val_const(g, addr + plus);
	if (!may_stay_unresolved(g))
		dt_fail(g->cc, n->pos, D_ASRELO, "kernel symbol %s%s%s is not in /proc/kallsyms",
			n->name, module ? " of module " : "", module ? module : "");
	index = dt_int_reloc(g, dt_arena_printf(g->arena, "%s`%s", module ? module : "", n->name),
			     plus);
	v = dt_val_new(g);
	dt_emit(g, DT_I_IDX(DT_OP_SETX, index, v->reg));
	return v;
}

dt_val *dt_gen_sym(dt_gen *g, const dt_node *n)
{
	dt_val *v = symbol_addr(g, n, 0);

	return dt_gen_is_ref(n) || dt_type_is_function(n->type) ? v : dt_gen_load(g, n, v);
}

/* ---- addresses ---- */
static dt_val *index_addr(dt_gen *g, const dt_node *n, uint64_t plus)
{
	uint64_t size = dt_type_size(g->cc->types, n->type);
	bool array = dt_gen_is_ref(n->l);
	dt_val *base;

	if (n->r->kind == N_INT) {
		plus += n->r->ival * size;
		return array ? dt_gen_addr(g, n->l, plus)
			     : add_const(g, dt_gen_value(g, n->l), plus);
	}
	base = array ? dt_gen_addr(g, n->l, plus) : dt_gen_value(g, n->l);
	base = dt_val_op2(g, DT_OP_ADD, base, dt_gen_scaled(g, n->r, size));
	return array ? base : add_const(g, base, plus);
}

dt_val *dt_gen_addr(dt_gen *g, const dt_node *n, uint64_t plus)
{
	if (n->kind == N_OP2 && n->op == '.')
		return dt_gen_addr(g, n->l, plus + n->offset);
	if (n->kind == N_OP2 && n->op == T_ARROW)
		return add_const(g, dt_gen_value(g, n->l), plus + n->offset);
	if (n->kind == N_OP2 && n->op == '[')
		return index_addr(g, n, plus);
	if (n->kind == N_OP1 && n->op == '*')
		return add_const(g, dt_gen_value(g, n->l), plus);
	if (n->kind == N_SYM)
		return symbol_addr(g, n, plus);
	return add_const(g, dt_gen_value(g, n), plus);
}

/* ---- loads ---- */

/* `width` bits from bit `from` up, as a number: sll; sra or srl. */
dt_val *dt_gen_extend(dt_gen *g, dt_val *v, unsigned from, unsigned width, bool is_signed)
{
	unsigned left = 64 - from - width, right = 64 - width;
	dt_val *c;

	if (right == 0)
		return v;
	c = dt_val_const(g, left ? left : right);
	if (left) {
		if (left == right)
			dt_val_hold(c); /* one setx for both */
		v = dt_val_op2(g, DT_OP_SLL, v, c);
		if (left != right)
			c = dt_val_const(g, right);
	}
	return dt_val_op2(g, is_signed ? DT_OP_SRA : DT_OP_SRL, v, c);
}

static bool load_op(uint64_t size, bool is_signed, bool user, enum dt_op *op)
{
	*op = user ? DT_OP_ULDX : DT_OP_LDX;
	switch (size) {
	case 1: *op = is_signed ? DT_OP_LDSB : DT_OP_LDUB; break;
	case 2: *op = is_signed ? DT_OP_LDSH : DT_OP_LDUH; break;
	case 4: *op = is_signed ? DT_OP_LDSW : DT_OP_LDUW; break;
	case 8: return true;
	default: return false; /* a long double: stays where it is */
	}
	if (user)
		*op = (enum dt_op)(*op - DT_OP_LDSB + DT_OP_ULDSB);
	return true;
}

dt_val *dt_gen_load(dt_gen *g, const dt_node *n, dt_val *addr)
{
	bool is_signed = dt_type_is_signed(n->type);
	uint64_t size = dt_type_size(g->cc->types, n->type);
	enum dt_op op;

	if (n->flags & NF_BITFIELD) {
		load_op(n->bit_unit, false, n->flags & NF_USER, &op);
		addr = dt_val_op1(g, op, addr);
		if (!is_signed && n->bit_offset == 0 && n->bit_width == n->bit_unit * 8)
			return addr;
		return dt_gen_extend(g, addr, n->bit_offset, n->bit_width, is_signed);
	}
	if (!load_op(size, is_signed, n->flags & NF_USER, &op))
		return addr;
	return dt_val_op1(g, op, addr);
}

/* ---- tuples ---- */
uint32_t dt_gen_tuple(dt_gen *g, const dt_node *list, dt_val **vals, dt_pos pos)
{
	uint64_t max = dt_opt(g->cc->opts, DT_O_TREGS);
	uint32_t n = 0;

	if (max == 0 || max > DT_DIF_NTREGS)
		max = DT_DIF_NTREGS;
	for (const dt_node *a = list; a; a = a->next) {
		if (n == max)
			dt_fail(g->cc, pos, D_UNKNOWN, "%s: at most %u keys or arguments",
				dt_strerror(EDT_NOTUPREG), (unsigned)max);
		vals[n++] = dt_gen_exact(g, dt_gen_value(g, a), a);
	}
	return n;
}

static void push_one(dt_gen *g, const dt_node *n, dt_val *v)
{
	int r = dt_val_pin(g, v), size_reg = 0;
	dt_val *size = NULL;

	if (!dt_gen_is_ref(n)) {
		dt_emit(g, DT_I_FMT(DT_OP_PUSHTV, DT_TYPE_CTF, 0, r));
	} else if (dt_type_is_string(n->type)) {
		dt_emit(g, DT_I_FMT(DT_OP_PUSHTR, DT_TYPE_STRING, 0, r));
	} else {
		size = dt_val_const(g, dt_type_size(g->cc->types, n->type));
		size_reg = dt_val_reg(g, size);
		dt_emit(g, DT_I_FMT(DT_OP_PUSHTR, DT_TYPE_CTF, size_reg, r));
		dt_val_drop(g, size);
	}
	dt_val_unpin(v);
}

void dt_gen_push(dt_gen *g, const dt_node *list, dt_val **vals)
{
	dt_emit(g, DT_I_FMT(DT_OP_FLUSHTS, 0, 0, 0));
	for (; list; list = list->next)
		push_one(g, list, *vals++);
}

/* ---- variables ---- */
void dt_emit_var(dt_gen *g, dt_ident *id, bool store, int reg)
{
	static const enum dt_op ops[2][3][2] = {
	    /* load, store of a scalar */
	    {{DT_OP_LDGS, DT_OP_STGS}, {DT_OP_LDTS, DT_OP_STTS}, {DT_OP_LDLS, DT_OP_STLS}},
	    /* of an element; clause-local arrays do not exist */
	    {{DT_OP_LDGAA, DT_OP_STGAA}, {DT_OP_LDTAA, DT_OP_STTAA}, {0, 0}},
	};

	dt_var_touch(g, id, store ? DT_VARF_WRITE : DT_VARF_READ);
	dt_emit(g, DT_I_IDX(ops[id->kind == ID_ARRAY][id->scope][store], id->id, reg));
}

/* args[i], regs[i], uregs[i]. Bits of args[i] above its type may be anything. */
static dt_val *builtin_array(dt_gen *g, const dt_node *n)
{
	dt_val *index = dt_gen_value(g, n->args), *v;
	uint64_t size = dt_type_size(g->cc->types, n->type);
	int r = dt_val_pin(g, index);

	dt_var_touch(g, n->ident, DT_VARF_READ);
	v = dt_val_result(g, index, NULL);
	dt_emit(g, DT_I_FMT(DT_OP_LDGA, n->ident->id, r, v->reg));
	if (n->ident->id == DT_VAR_ARGS && dt_type_is_integer(n->type) && size < 8)
		v = dt_gen_extend(g, v, 0, (unsigned)size * 8, dt_type_is_signed(n->type));
	return v;
}

dt_val *dt_gen_var(dt_gen *g, const dt_node *n)
{
	dt_val *keys[DT_DIF_NTREGS], *v;
	uint32_t nkeys;

	if (n->ident->kind != ID_ARRAY) {
		v = dt_val_new(g);
		dt_emit_var(g, n->ident, false, v->reg);
		return v;
	}
	if (n->ident->flags & IDF_BUILTIN)
		return builtin_array(g, n);
	nkeys = dt_gen_tuple(g, n->args, keys, n->pos);
	dt_gen_push(g, n->args, keys);
	for (uint32_t i = 0; i < nkeys; i++)
		dt_val_drop(g, keys[i]);
	v = dt_val_new(g);
	dt_emit_var(g, n->ident, false, v->reg);
	return v;
}

/* ---- calls ---- */
dt_val *dt_gen_call(dt_gen *g, const dt_node *n)
{
	dt_val *args[DT_DIF_NTREGS], *v;
	uint32_t nargs = dt_gen_tuple(g, n->args, args, n->pos);

	dt_gen_push(g, n->args, args);
	for (uint32_t i = 0; i < nargs; i++)
		dt_val_drop(g, args[i]);
	dt_common_forget(g);
	v = dt_val_new(g);
	dt_emit(g, DT_I_IDX(DT_OP_CALL, n->ident->id, v->reg));
	return v;
}

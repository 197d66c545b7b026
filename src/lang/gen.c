/*
 * gen: checked expression -> DIF.
 *
 * Operands are evaluated from left to right, each into the lowest free register; the result takes
 * the register of the left operand. Arithmetic is done in 64 bits, and a result is truncated to its
 * type where a cast or an assignment requires it. The checker has inserted a cast wherever C
 * converts.
 *
 * Truth values are computed by branching; a condition that is only tested never becomes a value:
 *
 *   a == b           cmp a, b; be L1; mov r0, d; ba L2; L1: setx 1, d; L2:
 *   a && b           tst a; be L1; tst b; be L1; setx 1, d; ba L2; L1: mov r0, d; L2:
 *   c ? l : r        tst c; be L1; l -> d; ba L2; L1: r -> d; L2:
 *   a || b ? l : r   tst a; bne L1; tst b; bne L1; r -> d; ba L2; L1: l -> d; L2:
 */
#include "lang/gen.h"

static bool is_compare(int op)
{
	return op == T_EQ || op == T_NE || op == '<' || op == '>' || op == T_LE || op == T_GE;
}

/* ---- conversions ---- */

static bool is_exact(dt_gen *g, const dt_node *n);

static bool is_exact1(dt_gen *g, const dt_node *n)
{
	switch (n->op) {
	case '-': return false;
	case '+': return is_exact(g, n->l);
	case '~': return dt_type_is_signed(n->type) && is_exact(g, n->l);
	default: return true;
	}
}

/* The smallest number of a signed type divided by -1 is beyond it. */
static bool is_exact_quotient(dt_gen *g, const dt_node *n)
{
	return is_exact(g, n->l) && (!dt_type_is_signed(n->type) ||
				     (n->r->kind == N_INT && n->r->ival != UINT64_MAX));
}

/* Does the register of n's value hold exactly a number of n's type? Not after arithmetic that may
 * have carried beyond the type's width. */
static bool is_exact(dt_gen *g, const dt_node *n)
{
	if (dt_type_size(g->cc->types, n->type) >= 8)
		return true;
	if (n->kind == N_INT)
		return n->ival == dt_fit(g->cc, n->ival, n->type);
	if (n->kind == N_OP3)
		return is_exact(g, n->l) && is_exact(g, n->r);
	if (n->kind == N_OP1)
		return is_exact1(g, n);
	if (n->kind != N_OP2)
		return true;
	switch (n->op) {
	case '+':
	case '-':
	case '*':
	case T_SHL: return false;
	case '/': return is_exact_quotient(g, n);
	case '%':
	case T_SHR: return is_exact(g, n->l);
	case '&':
	case '|':
	case '^': return is_exact(g, n->l) && is_exact(g, n->r);
	case ',': return is_exact(g, n->r);
	default: return true;
	}
}

/* Is a value of type `from` in a register also a valid value of type `to`? */
static bool fits_as_is(dt_gen *g, dt_type *from, dt_type *to)
{
	uint64_t fs = dt_type_size(g->cc->types, from), ts = dt_type_size(g->cc->types, to);
	bool fsigned = dt_type_is_signed(from), tsigned = dt_type_is_signed(to);

	if (ts >= 8 || ts == 0)
		return true;
	if (fs > ts || (fs == ts && fsigned != tsigned))
		return false;
	return !(fsigned && !tsigned); /* a sign extends beyond an unsigned type */
}

static dt_val *truth_of(dt_gen *g, dt_val *v);

/* n NULL: the result of arithmetic in 64 bits. */
dt_val *dt_gen_convert(dt_gen *g, dt_val *v, const dt_node *n, dt_type *to)
{
	uint64_t size = dt_type_size(g->cc->types, to);

	if (!dt_type_is_scalar(to) || dt_type_is_float(to) || (n && dt_type_is_float(n->type)))
		return v;
	if (dt_type_resolve(to)->is_bool && !(n && dt_type_resolve(n->type)->is_bool))
		return truth_of(g, n ? dt_gen_exact(g, v, n) : v);
	if (size >= 8 || size == 0)
		return n ? dt_gen_exact(g, v, n) : v;
	if (n && fits_as_is(g, n->type, to)) {
		if (is_exact(g, n))
			return v;
		if (!dt_type_is_signed(n->type)) { /* the carry beyond it goes, and nothing else */
			to = n->type;
			size = dt_type_size(g->cc->types, to);
		}
	}
	return dt_gen_extend(g, v, 0, (unsigned)size * 8, dt_type_is_signed(to));
}

/* Unsigned arithmetic wraps around at the width of its type, so the carry beyond it is removed
 * before anything uses all 64 bits. (A signed result beyond its type has no meaning in C; DTrace's
 * is that of the 64-bit register, and constants are folded the same way.) */
dt_val *dt_gen_exact(dt_gen *g, dt_val *v, const dt_node *n)
{
	if (!dt_type_is_integer(n->type) || dt_type_is_signed(n->type) || is_exact(g, n))
		return v;
	return dt_gen_convert(g, v, n, n->type);
}

/* ---- arithmetic ---- */
uint64_t dt_gen_pointee(dt_gen *g, dt_type *t)
{
	dt_type *r = dt_type_resolve(t);
	uint64_t size;

	if (dt_type_is_string(r))
		return 1;
	if (!dt_type_is_pointer(r) && !dt_type_is_array(r))
		return 0;
	size = dt_type_size(g->cc->types, r->ref);
	return size ? size : 1;
}

static dt_val *scale(dt_gen *g, dt_val *v, uint64_t by)
{
	if (by <= 1)
		return v;
	if ((by & (by - 1)) == 0)
		return dt_val_op2(g, DT_OP_SLL, v, dt_val_const(g, (uint64_t)__builtin_ctzll(by)));
	return dt_val_op2(g, DT_OP_MUL, v, dt_val_const(g, by));
}

dt_val *dt_gen_scaled(dt_gen *g, const dt_node *n, uint64_t by)
{
	if (n->kind == N_INT)
		return dt_val_const(g, n->ival * by);
	return scale(g, dt_gen_exact(g, dt_gen_value(g, n), n), by);
}

static enum dt_op arith_op(int op, bool is_signed)
{
	switch (op) {
	case '+': return DT_OP_ADD;
	case '-': return DT_OP_SUB;
	case '*': return DT_OP_MUL;
	case '/': return is_signed ? DT_OP_SDIV : DT_OP_UDIV;
	case '%': return is_signed ? DT_OP_SREM : DT_OP_UREM;
	case '&': return DT_OP_AND;
	case '|': return DT_OP_OR;
	case '^': return DT_OP_XOR;
	case T_SHL: return DT_OP_SLL;
	default: return is_signed ? DT_OP_SRA : DT_OP_SRL;
	}
}

static dt_val *pointer_arith(dt_gen *g, int op, dt_val *l, uint64_t lsize, const dt_node *r,
			     uint64_t rsize)
{
	if (lsize == 0) /* integer + pointer */
		return dt_val_op2(g, DT_OP_ADD, scale(g, l, rsize), dt_gen_value(g, r));
	if (rsize == 0)
		return dt_val_op2(g, arith_op(op, true), l, dt_gen_scaled(g, r, lsize));
	/* p - q; also p += q, which means as little as in DTrace */
	l = dt_val_op2(g, arith_op(op, true), l, dt_gen_value(g, r));
	return lsize > 1 ? dt_val_op2(g, DT_OP_SDIV, l, dt_val_const(g, lsize)) : l;
}

/* The type in which an operation is done; NULL: not integers. */
static dt_type *arith_type(dt_gen *g, int op, dt_type *lt, dt_type *rt)
{
	if (!dt_type_is_integer(lt) || !dt_type_is_integer(rt))
		return NULL;
	if (op == T_SHR || op == T_SHL)
		return dt_type_promote(g->cc->types, lt);
	return dt_type_usual(g->cc->types, lt, rt);
}

/* Division, remainder, right shift and comparison use all 64 bits of an operand, so an unsigned one
 * must be an exact number of its type. (With signed ones the carry into the upper half only makes
 * the result more exact.) */
static bool uses_all_bits(int op)
{
	return op == '/' || op == '%' || op == T_SHR || is_compare(op);
}

static bool must_be_exact(int op, dt_type *t)
{
	return t && !dt_type_is_signed(t) && uses_all_bits(op);
}

dt_val *dt_gen_arith(dt_gen *g, int op, dt_val *l, dt_type *lt, const dt_node *r, dt_val *rv)
{
	uint64_t lsize = dt_gen_pointee(g, lt), rsize = dt_gen_pointee(g, r->type);
	dt_type *t = arith_type(g, op, lt, r->type);

	if ((op == '+' || op == '-') && (lsize || rsize))
		return pointer_arith(g, op, l, lsize, r, rsize);
	if (must_be_exact(op, t) && !fits_as_is(g, lt, t))
		l = dt_gen_convert(g, l, NULL, t);
	if (!rv)
		rv = dt_gen_value(g, r);
	if (must_be_exact(op, t) && op != T_SHR)
		rv = dt_gen_convert(g, rv, r, t);
	else if (t && uses_all_bits(op))
		rv = dt_gen_exact(g, rv, r);
	return dt_val_op2(g, arith_op(op, t && dt_type_is_signed(t)), l, rv);
}

static dt_val *gen_binary(dt_gen *g, const dt_node *n)
{
	dt_val *l = dt_gen_value(g, n->l);

	if (uses_all_bits(n->op))
		l = dt_gen_exact(g, l, n->l);
	return dt_gen_arith(g, n->op, l, n->l->type, n->r, NULL);
}

/* ---- conditions ---- */
static enum dt_op branch_op(int op, bool is_signed)
{
	switch (op) {
	case T_EQ: return DT_OP_BE;
	case T_NE: return DT_OP_BNE;
	case '<': return is_signed ? DT_OP_BL : DT_OP_BLU;
	case T_LE: return is_signed ? DT_OP_BLE : DT_OP_BLEU;
	case '>': return is_signed ? DT_OP_BG : DT_OP_BGU;
	default: return is_signed ? DT_OP_BGE : DT_OP_BGEU;
	}
}

static int negated(int op)
{
	switch (op) {
	case T_EQ: return T_NE;
	case T_NE: return T_EQ;
	case '<': return T_GE;
	case T_LE: return '>';
	case '>': return T_LE;
	default: return '<';
	}
}

/* Compare; returns whether the signed branches apply. A string compared with NULL is compared as a
 * string, since NULL and "" are equal. */
static bool gen_compare(dt_gen *g, const dt_node *n)
{
	bool strings = dt_type_is_string(n->l->type) || dt_type_is_string(n->r->type);
	dt_type *t = arith_type(g, n->op, n->l->type, n->r->type);
	dt_val *l = dt_gen_value(g, n->l), *r;
	int a, b;

	if (must_be_exact(n->op, t))
		l = dt_gen_convert(g, l, n->l, t);
	r = dt_gen_value(g, n->r);
	if (must_be_exact(n->op, t))
		r = dt_gen_convert(g, r, n->r, t);
	a = dt_val_pin(g, l);
	b = dt_val_pin(g, r);
	dt_emit(g, DT_I_FMT(strings ? DT_OP_SCMP : DT_OP_CMP, a, b, 0));
	dt_val_unpin(l);
	dt_val_unpin(r);
	dt_val_drop(g, l);
	dt_val_drop(g, r);
	return strings || (t && dt_type_is_signed(t));
}

static void gen_test(dt_gen *g, dt_val *v)
{
	dt_emit(g, DT_I_FMT(DT_OP_TST, dt_val_reg(g, v), 0, 0));
	dt_val_drop(g, v);
}

static void gen_jump(dt_gen *g, const dt_node *n, uint32_t label, bool sense, dt_fork *f);

/* a && b jumps when both are true; it jumps around b when a is false. || is the mirror image. */
static void jump_logical(dt_gen *g, const dt_node *n, uint32_t label, bool sense, dt_fork *f)
{
	bool stop = n->op == T_OROR; /* this truth of `a` decides alone */
	uint32_t skip;

	if (sense == stop) {
		gen_jump(g, n->l, label, sense, f);
		gen_jump(g, n->r, label, sense, f);
		return;
	}
	skip = dt_label_new(g);
	gen_jump(g, n->l, skip, stop, f);
	gen_jump(g, n->r, label, sense, f);
	if (!f->taken)
		dt_fork_here(g, f);
	dt_fork_label(g, f, skip);
}

/* Go to label if the truth of n is `sense`, else continue. */
static void gen_jump(dt_gen *g, const dt_node *n, uint32_t label, bool sense, dt_fork *f)
{
	if (n->kind == N_OP2 && is_compare(n->op)) {
		bool is_signed = gen_compare(g, n);
		dt_fork_branch(g, f, branch_op(sense ? n->op : negated(n->op), is_signed), label);
	} else if (n->kind == N_OP2 && (n->op == T_ANDAND || n->op == T_OROR)) {
		jump_logical(g, n, label, sense, f);
	} else if (n->kind == N_OP1 && n->op == '!') {
		gen_jump(g, n->l, label, !sense, f);
	} else if (n->kind == N_INT) {
		if ((n->ival != 0) == sense)
			dt_fork_branch(g, f, DT_OP_BA, label);
	} else {
		gen_test(g, dt_gen_exact(g, dt_gen_value(g, n), n));
		dt_fork_branch(g, f, sense ? DT_OP_BNE : DT_OP_BE, label);
	}
}

/* After code that jumps to `label`: a value of `fallen` here and of !fallen there. */
static dt_val *truth_value(dt_gen *g, dt_fork *f, uint32_t label, bool fallen)
{
	uint32_t end = dt_label_new(g), one = dt_int_index(g, 1);
	dt_val *v;

	dt_fork_here(g, f);
	v = dt_val_new(g);
	for (int path = 0; path < 2; path++) {
		if (fallen == (path == 0))
			dt_emit(g, DT_I_IDX(DT_OP_SETX, one, v->reg));
		else
			dt_emit(g, DT_I_FMT(DT_OP_MOV, 0, 0, v->reg));
		if (path == 0) {
			dt_emit_branch(g, DT_OP_BA, end);
			dt_fork_label(g, f, label);
		}
	}
	dt_label_here(g, end);
	return v;
}

static dt_val *gen_truth(dt_gen *g, const dt_node *n)
{
	dt_fork f = {0};
	uint32_t label = dt_label_new(g);
	bool sense = !(n->kind == N_OP2 && n->op == T_ANDAND); /* jump on: see the top */

	gen_jump(g, n, label, sense, &f);
	return truth_value(g, &f, label, !sense);
}

static dt_val *truth_of(dt_gen *g, dt_val *v)
{
	dt_fork f = {0};
	uint32_t label = dt_label_new(g);

	gen_test(g, v);
	dt_fork_branch(g, &f, DT_OP_BNE, label);
	return truth_value(g, &f, label, false);
}

static dt_val *gen_choice(dt_gen *g, const dt_node *n)
{
	uint32_t other = dt_label_new(g), end = dt_label_new(g);
	bool sense = n->c->kind == N_OP2 && n->c->op == T_OROR; /* jump on: what falls through knows all that was computed */
	dt_fork f = {0};
	dt_val *v;
	int reg;

	gen_jump(g, n->c, other, sense, &f);
	dt_fork_here(g, &f);
	v = dt_val_own(g, dt_gen_value(g, sense ? n->r : n->l));
	dt_val_reg(g, v);
	dt_fork_restore(g, &f, v);
	reg = v->reg;
	dt_val_drop(g, v);
	dt_emit_branch(g, DT_OP_BA, end);

	dt_fork_label(g, &f, other);
	v = dt_val_own(g, dt_gen_value(g, sense ? n->l : n->r));
	dt_val_reg(g, v);
	dt_fork_restore(g, &f, v);
	dt_val_move_to(g, v, reg);
	dt_fork_label(g, &f, end);
	return v;
}

/* ---- one node ---- */
static dt_val *gen_op1(dt_gen *g, const dt_node *n)
{
	dt_val *v;

	switch (n->op) {
	case '-': {
		v = dt_gen_value(g, n->l);
		int a = dt_val_pin(g, v);
		v = dt_val_result(g, v, NULL);
		dt_emit(g, DT_I_FMT(DT_OP_SUB, 0, a, v->reg));
		return v;
	}
	case '~': return dt_val_op1(g, DT_OP_NOT, dt_gen_value(g, n->l));
	case '!': return gen_truth(g, n);
	case '*': v = dt_gen_addr(g, n, 0); return dt_gen_is_ref(n) ? v : dt_gen_load(g, n, v);
	case '&': return dt_gen_addr(g, n->l, 0);
	case '(':
		if (n->flags & NF_SHARED)
			return dt_gen_function(g, n);
		return dt_gen_convert(g, dt_gen_value(g, n->l), n->l, n->type);
	case T_INC:
	case T_DEC:
	case T_POSTINC:
	case T_POSTDEC: return dt_gen_incdec(g, n, true);
	default: return dt_gen_value(g, n->l); /* stringof: the address is the value */
	}
}

static dt_val *gen_op2(dt_gen *g, const dt_node *n)
{
	dt_val *v;

	if (dt_is_assign_op(n->op))
		return dt_gen_assign(g, n);
	if (is_compare(n->op))
		return gen_truth(g, n);
	switch (n->op) {
	case T_ANDAND:
	case T_OROR: return gen_truth(g, n);
	case T_XORXOR:
		v = gen_truth(g, n->l);
		return dt_val_op2(g, DT_OP_XOR, v, gen_truth(g, n->r));
	case ',': dt_val_drop(g, dt_gen_value(g, n->l)); return dt_gen_value(g, n->r);
	case '.':
	case T_ARROW:
	case '[': v = dt_gen_addr(g, n, 0); return dt_gen_is_ref(n) ? v : dt_gen_load(g, n, v);
	default: return gen_binary(g, n);
	}
}

static dt_val *gen_string(dt_gen *g, const dt_node *n)
{
	dt_val *v = dt_val_new(g);
	const char *s = dt_arena_strndup(g->arena, n->str, n->len);

	dt_emit(g, DT_I_IDX(DT_OP_SETS, dt_string_offset(g, s), v->reg));
	return v;
}

static dt_val *gen_node(dt_gen *g, const dt_node *n)
{
	switch (n->kind) {
	case N_INT: return dt_val_const(g, n->ival);
	case N_STRING: return gen_string(g, n);
	case N_VAR: return dt_gen_var(g, n);
	case N_SYM: return dt_gen_sym(g, n);
	case N_FUNC:
		if (n->ident->kind != ID_SUBR)
			dt_fail(g->cc, n->pos, D_CG_EXPR,
				n->ident->kind == ID_ACTION
				    ? "%s( ) is an action and has no value: it cannot be used in "
				      "an expression"
				    : "%s( ) is an aggregating function: it can only be assigned "
				      "to an aggregation",
				n->ident->name);
		return dt_gen_call(g, n);
	case N_OP1: return gen_op1(g, n);
	case N_OP2: return gen_op2(g, n);
	case N_OP3: return gen_choice(g, n);
	case N_XLATE:
		if (!dt_type_is_dyn(n->type))
			return dt_gen_object(g, n);
		/* fall through */
	default:
		dt_fail(g->cc, n->pos, D_CG_DYN,
			"a whole translated object or aggregation cannot be used as a value");
	}
}

dt_val *dt_gen_value(dt_gen *g, const dt_node *n)
{
	uint32_t common;
	dt_val *v = dt_common_find(g, n, &common);

	if (!v) {
		const dt_node *outer = g->node;

		if (n->from && !g->here)
			g->node = n;
		v = gen_node(g, n);
		g->node = outer;
		dt_common_keep(g, common, v);
	}
	return v;
}

/* ---- how long a string can be ---- */
static uint32_t subr_bound(dt_compiler *cc, const dt_node *n);

static uint32_t string_bound(dt_compiler *cc, const dt_node *n)
{
	if (n->kind == N_STRING)
		return (uint32_t)strnlen(n->str, n->len) + 1;
	if (n->kind == N_OP3) {
		uint32_t l = string_bound(cc, n->l), r = string_bound(cc, n->r);
		return l && r ? (l > r ? l : r) : 0;
	}
	if (n->kind == N_FUNC)
		return subr_bound(cc, n);
	if (n->kind != N_VAR || !(n->ident->flags & IDF_BUILTIN))
		return 0;
	switch (n->ident->id) {
	case DT_VAR_EXECNAME:
	case DT_VAR_THREADNAME: return 16; /* TASK_COMM_LEN */
	case DT_VAR_PROBEPROV:
	case DT_VAR_PROBEMOD:
	case DT_VAR_PROBENAME: return 64;
	case DT_VAR_ZONENAME: return sizeof("global");
	case DT_VAR_JAILNAME: return sizeof("0");
	default: return 0;
	}
}

static uint32_t subr_bound(dt_compiler *cc, const dt_node *n)
{
	uint32_t a, b;

	switch (n->ident->id) {
	case DT_SUBR_LLTOSTR: return 66; /* sign and 64 binary digits */
	case DT_SUBR_INET_NTOA: return 16;
	case DT_SUBR_INET_NTOA6:
	case DT_SUBR_INET_NTOP: return 46;
	case DT_SUBR_STRJOIN:
		a = string_bound(cc, n->args);
		b = string_bound(cc, n->args->next);
		return a && b ? a + b - 1 : 0;
	case DT_SUBR_STRCHR:
	case DT_SUBR_STRRCHR:
	case DT_SUBR_STRSTR:
	case DT_SUBR_SUBSTR:
	case DT_SUBR_TOUPPER:
	case DT_SUBR_TOLOWER: return string_bound(cc, n->args);
	case DT_SUBR_BASENAME:
	case DT_SUBR_DIRNAME:
		a = string_bound(cc, n->args);
		return a == 1 ? 2 : a; /* "" gives "." */
	default: return 0;
	}
}

/* ---- entry points ---- */
static void gen_start(dt_gen *g, dt_compiler *cc, dt_pos pos)
{
	uint64_t iregs = dt_opt(cc->opts, DT_O_IREGS);

	memset(g, 0, sizeof(*g));
	g->cc = cc;
	dt_arena_reset(cc->scratch);
	g->arena = cc->scratch;
	g->pos = pos;
	g->nregs = iregs == 0 || iregs > DT_DIF_NREGS ? DT_DIF_NREGS : (int)iregs;
}

dt_difo *dt_gen_finish(dt_gen *g, dt_val *v, const dt_node *n, dt_type *t, bool record)
{
	dt_place whole;
	dt_difo *d;

	dt_emit(g, DT_I_FMT(DT_OP_RET, 0, 0, dt_val_reg(g, v)));
	if (dt_place_of(g, n, DT_PLACE_WHOLE, &whole))
		*dt_vec_add(&g->places, g->arena) = whole;
	d = dt_assemble(g);
	d->type = t;
	if (record)
		d->rtype = dt_diftype_of(g->cc, t);
	else
		d->rtype = (dt_diftype){.kind = DT_TYPE_CTF, .ckind = DT_K_INTEGER};
	return d;
}

/* What a value is called where it is shown: a variable, or the last member. NULL: it has no name. */
static const char *name_of(const dt_node *n)
{
	while (n->kind == N_OP1 && n->op == '(')
		n = n->l;
	if (n->kind == N_VAR)
		return n->ident->kind != ID_SCALAR ? NULL : n->ident->name[0] == '%' ? n->ident->shown : n->ident->name;
	return n->kind == N_OP2 && (n->op == '.' || n->op == T_ARROW) ? n->name : NULL;
}

dt_difo *dt_gen_expr(dt_compiler *cc, dt_node *n, bool record)
{
	dt_gen g;
	dt_difo *d;
	dt_val *v;

	if (dt_type_is_dyn(n->type))
		dt_fail(
		    cc, n->pos, D_CG_DYN,
		    "a whole translated object cannot be used as a value; use one of its members");
	gen_start(&g, cc, n->pos);
	g.node = n;
	dt_common_scan(&g, n);
	if (!record && n->kind == N_OP1 && (n->op == T_POSTINC || n->op == T_POSTDEC))
		v = dt_gen_incdec(&g, n, false);
	else
		v = dt_gen_value(&g, n);
	if (record)
		v = dt_gen_exact(&g, v, n);
	d = dt_gen_finish(&g, v, n, n->type, record);
	d->name = record ? name_of(n) : NULL;
	if (record && (d->rtype.flags & DT_TF_BYREF) && (n->flags & NF_USER))
		d->rtype.flags = DT_TF_BYUREF;
	if (record && d->rtype.kind == DT_TYPE_STRING) {
		d->bound = string_bound(cc, n);
		if (d->bound > d->rtype.size)
			d->bound = 0;
	}
	return d;
}

dt_difo *dt_gen_const(dt_compiler *cc, int64_t v, dt_type *t)
{
	dt_gen g;

	gen_start(&g, cc, (dt_pos){0});
	return dt_gen_finish(&g, dt_val_const(&g, (uint64_t)v), NULL, t, true);
}

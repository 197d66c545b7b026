/*
 * cfi: .eh_frame to rows. Each FDE's instructions are run once; a row begins where a relevant rule
 * changes. Rules of registers other than the frame pointer, the base register and the return
 * address are skipped.
 *
 * A rule that a row cannot express makes the row STOP or the register LOST: an unwinder that uses
 * it ends the stack there and does not guess. For any input, work is linear in the number of bytes:
 * many FDEs can share a CIE with many instructions, so these are counted.
 */
#include "elf/cfi.h"

#include <elf.h>
#include <stdlib.h>

#include "elf/ehframe.h"
#include "elf/elf_remote.h"

/* ---- the machine ---- */

struct rule { /* where the caller's register is */
	enum { R_SAME, R_UNDEFINED, R_AT_CFA, R_AT_EXPR, R_OTHER } kind;
	int64_t offset;	     /* R_AT_CFA */
	const uint8_t *expr; /* R_AT_EXPR */
	uint64_t len;
};
enum { BASE, FP, RA, NTRACKED };
struct state {
	uint64_t cfa_reg; /* UINT64_MAX: cfa_expr */
	int64_t cfa_off;
	const uint8_t *cfa_expr;
	uint64_t cfa_len;
	struct rule r[NTRACKED];
};

#define DEPTH 16 /* of remembered states; compilers use one */

/* A table being made. */
struct maker {
	const dt_arch *arch;
	struct dt_eh_section s;
	DT_VEC(struct dt_eh_fde) fdes; /* by start */
	uint32_t next;		       /* the first of them that has not been run */
	uint64_t budget;	       /* instructions that may still be run */
	dt_unwind *u;
	uint32_t cap;
};

struct machine {
	struct maker *k;
	struct dt_eh_cie cie;
	struct state now, initial, saved[DEPTH];
	uint32_t nsaved;
	uint64_t pc, end; /* vaddrs */
	bool ended;	  /* instructions about code after the function, which do not matter here */
	uint64_t shift;	  /* vaddr + shift = offset in the file */
};

static struct rule *tracked(const struct machine *m, struct state *st, uint64_t reg)
{
	const struct dt_arch_unwind *u = &m->k->arch->unwind;

	return reg == u->base ? &st->r[BASE]
	       : reg == u->fp ? &st->r[FP]
	       : reg == u->ra ? &st->r[RA]
			      : NULL;
}

/* ---- a state as a row ---- */

/* The meaning of an expression if it is one of the few forms that occur:
 *	breg R, n				EXPR_REG: R + n
 *	breg R, n; deref [; plus_uconst m]	EXPR_DEREF: *(R + n) + m
 *	dt_arch.unwind.plt			EXPR_PLT */
struct expr {
	enum { EXPR_UNKNOWN, EXPR_REG, EXPR_DEREF, EXPR_PLT } kind;
	uint32_t reg;
	int64_t first;
	uint64_t then;
};

enum { OP_DEREF = 0x06, OP_PLUS_UCONST = 0x23, OP_LIT0 = 0x30, OP_BREG0 = 0x70 };

/* Is it that of a procedure linkage table? The byte with the literal may have any value. */
static bool is_plt(const struct dt_arch_unwind *u, const uint8_t *p, uint64_t len)
{
	uint8_t at = u->plt_literal;

	return u->plt && len == u->plt_size && memcmp(p, u->plt, at) == 0 && p[at] >= OP_LIT0 &&
	       p[at] < OP_LIT0 + 16 && memcmp(p + at + 1, u->plt + at + 1, len - at - 1) == 0;
}

static struct expr read_expr(const struct dt_arch_unwind *u, const uint8_t *p, uint64_t len)
{
	struct dt_eh_cursor c = {.p = p, .end = p + len};
	struct expr x = {0};
	uint8_t op;

	if (is_plt(u, p, len))
		return (struct expr){.kind = EXPR_PLT, .then = p[u->plt_literal] - OP_LIT0};
	op = (uint8_t)dt_eh_uint(&c, 1);
	if (op < OP_BREG0 || op > OP_BREG0 + 31)
		return x;
	x.reg = op - OP_BREG0;
	x.first = dt_eh_sleb(&c);
	x.kind = EXPR_REG;
	if (!c.bad && c.p < c.end && *c.p == OP_DEREF) {
		c.p++;
		x.kind = EXPR_DEREF;
		if (c.p < c.end && *c.p == OP_PLUS_UCONST) {
			c.p++;
			x.then = dt_eh_uleb(&c);
		}
	}
	if (c.bad || c.p != c.end)
		x.kind = EXPR_UNKNOWN;
	return x;
}

static bool fits(int64_t n, uint32_t bits)
{
	return n >= -((int64_t)1 << (bits - 1)) && n < (int64_t)1 << (bits - 1);
}

static uint32_t cfa_of_reg(const dt_arch *a, uint64_t reg, int64_t off)
{
	const struct dt_arch_unwind *u = &a->unwind;
	enum dt_unwind_kind kind = reg == u->sp	    ? DT_UW_SP
				   : reg == u->fp   ? DT_UW_FP
				   : reg == u->base ? DT_UW_BASE
						    : DT_UW_REG;
	int index;

	if (kind != DT_UW_REG)
		return fits(off, 28) ? kind | (uint32_t)off << 4 : DT_UW_STOP;
	index = dt_arch_dwarf(a, reg);
	if (index < 0 || index > 31 || reg == u->ra || !fits(off, 23))
		return DT_UW_STOP;
	return kind | (uint32_t)index << 4 | (uint32_t)off << 9;
}

static uint32_t cfa_of_expr(const dt_arch *a, const struct expr *x)
{
	const struct dt_arch_unwind *u = &a->unwind;

	if (x->kind == EXPR_REG)
		return cfa_of_reg(a, x->reg, x->first);
	if (x->kind == EXPR_PLT)
		return DT_UW_PLT | (uint32_t)x->then << 4;
	if (x->kind != EXPR_DEREF || (x->reg != u->sp && x->reg != u->fp) || !fits(x->first, 16) ||
	    x->then > 0xfff)
		return DT_UW_STOP;
	return (x->reg == u->sp ? DT_UW_SP_DEREF : DT_UW_FP_DEREF) | (uint32_t)x->then << 4 |
	       (uint32_t)x->first << 16;
}

static int16_t place_of(const struct rule *r)
{
	if (r->kind == R_SAME)
		return DT_UW_SAME;
	if (r->kind == R_AT_CFA && r->offset % 8 == 0 && r->offset != 0 && fits(r->offset / 8, 15))
		return (int16_t)(r->offset / 8);
	return DT_UW_LOST;
}

/* The frame pointer of a function that has aligned its stack: saved where the new one points to */
static int16_t place_of_fp(const struct dt_arch_unwind *u, const struct rule *r)
{
	struct expr x;

	if (r->kind != R_AT_EXPR)
		return place_of(r);
	x = read_expr(u, r->expr, r->len);
	return x.kind == EXPR_REG && x.reg == u->fp && x.first == 0 ? DT_UW_AT_FP : DT_UW_LOST;
}

/* Where the pc is among the registers that a signal handler's frame saves. */
static int64_t saved_pc(const dt_arch *a)
{
	return a->regs[a->pc].saved * 8;
}

static void row_of(const struct machine *m, dt_unwind_row *row)
{
	const dt_arch *a = m->k->arch;
	const struct state *st = &m->now;
	const struct rule *ra = &st->r[a->unwind.ra_at ? RA : BASE];
	struct expr x;

	row->fp = row->base = DT_UW_SAME;
	if (ra->kind == R_UNDEFINED) {
		row->cfa = DT_UW_END;
		return;
	}
	if (ra->kind == R_AT_EXPR) {
		x = read_expr(&a->unwind, ra->expr, ra->len);
		row->cfa = m->cie.signal && x.kind == EXPR_REG && x.reg == a->unwind.sp &&
				   fits(x.first, 27)
			       ? DT_UW_SIGNAL | (uint32_t)(x.first - saved_pc(a)) << 4
			       : DT_UW_STOP;
		return;
	}
	if (a->unwind.ra_at && (ra->kind != R_AT_CFA || ra->offset != a->unwind.ra_at)) {
		row->cfa = DT_UW_STOP;
		return;
	}
	if (st->cfa_reg != UINT64_MAX) {
		row->cfa = cfa_of_reg(a, st->cfa_reg, st->cfa_off);
	} else {
		x = read_expr(&a->unwind, st->cfa_expr, st->cfa_len);
		row->cfa = cfa_of_expr(a, &x);
	}
	if (DT_UW_KIND(row->cfa) == DT_UW_STOP)
		return;
	row->fp = place_of_fp(&a->unwind, &st->r[FP]);
	row->base = place_of(&st->r[BASE]);
}

static bool says_the_same(const dt_unwind_row *a, const dt_unwind_row *b)
{
	return a->cfa == b->cfa && a->fp == b->fp && a->base == b->base;
}

/* The row is valid from its pc on. A later row for the same pc replaces the earlier one. */
static void add_row(struct maker *k, const dt_unwind_row *row)
{
	dt_unwind *u = k->u;

	while (u->n && u->rows[u->n - 1].pc >= row->pc)
		u->n--;
	if (u->n && says_the_same(&u->rows[u->n - 1], row))
		return;
	u->rows = dt_vec_grow(u->rows, u->n, &k->cap, sizeof(*row), NULL);
	u->rows[u->n++] = *row;
}

/* The state is valid from m->pc on. */
static void flush(struct machine *m)
{
	dt_unwind_row row;

	row_of(m, &row);
	row.pc = (uint32_t)(m->pc + m->shift);
	add_row(m->k, &row);
}

/* ---- instructions ---- */

enum { /* DW_CFA_* */
       CFA_SET_LOC = 0x01,
       CFA_ADVANCE_LOC1,
       CFA_ADVANCE_LOC2,
       CFA_ADVANCE_LOC4,
       CFA_OFFSET_EXTENDED,
       CFA_RESTORE_EXTENDED,
       CFA_UNDEFINED,
       CFA_SAME_VALUE,
       CFA_REGISTER,
       CFA_REMEMBER_STATE,
       CFA_RESTORE_STATE,
       CFA_DEF_CFA,
       CFA_DEF_CFA_REGISTER,
       CFA_DEF_CFA_OFFSET,
       CFA_DEF_CFA_EXPRESSION,
       CFA_EXPRESSION,
       CFA_OFFSET_EXTENDED_SF,
       CFA_DEF_CFA_SF,
       CFA_DEF_CFA_OFFSET_SF,
       CFA_VAL_OFFSET,
       CFA_VAL_OFFSET_SF,
       CFA_VAL_EXPRESSION,
       CFA_NEGATE_RA_STATE = 0x2d, /* the return address is signed from here on, or no more */
       CFA_GNU_ARGS_SIZE = 0x2e,
       CFA_GNU_NEGATIVE_OFFSET = 0x2f,
       CFA_ADVANCE_LOC = 0x40, /* these three with an operand in the low six bits */
       CFA_OFFSET = 0x80,
       CFA_RESTORE = 0xc0,
};

static void set_rule(struct machine *m, uint64_t reg, struct rule r)
{
	struct rule *to = tracked(m, &m->now, reg);

	if (to)
		*to = r;
}

static void at_cfa(struct machine *m, uint64_t reg, uint64_t factored)
{
	set_rule(m, reg,
		 (struct rule){.kind = R_AT_CFA,
			       .offset = (int64_t)(factored * (uint64_t)m->cie.data_align)});
}

static void restore(struct machine *m, uint64_t reg)
{
	struct rule *from = tracked(m, &m->initial, reg);

	if (from)
		set_rule(m, reg, *from);
}

static bool advance_to(struct machine *m, uint64_t pc)
{
	m->ended = pc >= m->end;
	if (pc < m->pc || m->ended)
		return false;
	if (pc > m->pc)
		flush(m);
	m->pc = pc;
	return true;
}

static void define_cfa(struct machine *m, uint64_t reg, int64_t off)
{
	m->now.cfa_reg = reg != UINT64_MAX ? reg : reg - 1; /* any unknown one: STOP */
	m->now.cfa_off = off;
}

/* Where a register's value or place is computed by an expression. */
static void expression(struct machine *m, struct dt_eh_cursor *c, uint64_t reg, bool place)
{
	uint64_t len = dt_eh_uleb(c);
	const uint8_t *p = dt_eh_bytes(c, len);

	if (p)
		set_rule(m, reg,
			 (struct rule){.kind = place ? R_AT_EXPR : R_OTHER, .expr = p, .len = len});
}

static bool step_extended(struct machine *m, struct dt_eh_cursor *c, uint8_t op)
{
	uint64_t align = m->cie.code_align, reg, n;
	int64_t sf = m->cie.data_align;

	switch (op) {
	case CFA_NEGATE_RA_STATE:
	case 0: return true; /* nop */
	case CFA_SET_LOC: return advance_to(m, dt_eh_pointer(&m->k->s, c, m->cie.encoding));
	case CFA_ADVANCE_LOC1: return advance_to(m, m->pc + dt_eh_uint(c, 1) * align);
	case CFA_ADVANCE_LOC2: return advance_to(m, m->pc + dt_eh_uint(c, 2) * align);
	case CFA_ADVANCE_LOC4: return advance_to(m, m->pc + dt_eh_uint(c, 4) * align);
	case CFA_OFFSET_EXTENDED:
	case CFA_OFFSET_EXTENDED_SF:
		reg = dt_eh_uleb(c);
		at_cfa(m, reg, op == CFA_OFFSET_EXTENDED ? dt_eh_uleb(c) : (uint64_t)dt_eh_sleb(c));
		return true;
	case CFA_GNU_NEGATIVE_OFFSET:
		reg = dt_eh_uleb(c);
		at_cfa(m, reg, -dt_eh_uleb(c));
		return true;
	case CFA_RESTORE_EXTENDED: restore(m, dt_eh_uleb(c)); return true;
	case CFA_UNDEFINED:
		set_rule(m, dt_eh_uleb(c), (struct rule){.kind = R_UNDEFINED});
		return true;
	case CFA_SAME_VALUE: set_rule(m, dt_eh_uleb(c), (struct rule){.kind = R_SAME}); return true;
	case CFA_REGISTER:
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
		set_rule(m, dt_eh_uleb(c), (struct rule){.kind = R_OTHER});
		dt_eh_uleb(c);
		return true;
	case CFA_REMEMBER_STATE:
		if (m->nsaved == DEPTH)
			return false;
		m->saved[m->nsaved++] = m->now;
		return true;
	case CFA_RESTORE_STATE:
		if (m->nsaved == 0)
			return false;
		m->now = m->saved[--m->nsaved];
		return true;
	case CFA_DEF_CFA:
		reg = dt_eh_uleb(c);
		define_cfa(m, reg, (int64_t)dt_eh_uleb(c));
		return true;
	case CFA_DEF_CFA_SF:
		reg = dt_eh_uleb(c);
		define_cfa(m, reg, (int64_t)((uint64_t)dt_eh_sleb(c) * (uint64_t)sf));
		return true;
	case CFA_DEF_CFA_REGISTER: define_cfa(m, dt_eh_uleb(c), m->now.cfa_off); return true;
	case CFA_DEF_CFA_OFFSET: m->now.cfa_off = (int64_t)dt_eh_uleb(c); return true;
	case CFA_DEF_CFA_OFFSET_SF:
		m->now.cfa_off = (int64_t)((uint64_t)dt_eh_sleb(c) * (uint64_t)sf);
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		n = dt_eh_uleb(c);
		m->now.cfa_expr = dt_eh_bytes(c, n);
		m->now.cfa_len = n;
		m->now.cfa_reg = UINT64_MAX;
		return m->now.cfa_expr != NULL;
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
		reg = dt_eh_uleb(c);
		expression(m, c, reg, op == CFA_EXPRESSION);
		return true;
	case CFA_GNU_ARGS_SIZE: dt_eh_uleb(c); return true;
	default: return false; /* unknown: the rest cannot be decoded */
	}
}

/* False: invalid. */
static bool run(struct machine *m, struct dt_eh_cursor c)
{
	while (c.p < c.end && !c.bad) {
		uint8_t op = (uint8_t)dt_eh_uint(&c, 1), low = op & 0x3f;
		bool ok = true;

		if (m->k->budget == 0)
			return false;
		m->k->budget--;
		switch (op & 0xc0) {
		case CFA_ADVANCE_LOC: ok = advance_to(m, m->pc + low * m->cie.code_align); break;
		case CFA_OFFSET: at_cfa(m, low, dt_eh_uleb(&c)); break;
		case CFA_RESTORE: restore(m, low); break;
		default: ok = step_extended(m, &c, op);
		}
		if (!ok)
			return m->ended;
	}
	return !c.bad;
}

/* ---- an object ---- */

static void run_fde(struct maker *k, const struct dt_eh_fde *f, uint64_t shift)
{
	struct machine m = {.k = k, .pc = f->start, .end = f->end, .shift = shift};
	struct dt_eh_cursor insns;
	dt_unwind_row row;
	bool ok;

	if (!dt_eh_read(&k->s, f, &m.cie, &insns) || m.cie.ra != k->arch->unwind.ra)
		return;
	ok = run(&m, m.cie.insns);
	m.initial = m.now;
	ok = ok && run(&m, insns);
	if (ok) {
		flush(&m);
	} else {
		row = (dt_unwind_row){.pc = (uint32_t)(m.pc + shift), .cfa = DT_UW_STOP};
		add_row(k, &row);
	}
}

static int by_start(const void *a, const void *b)
{
	const struct dt_eh_fde *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void collect(struct maker *k)
{
	struct dt_eh_fde f;
	uint64_t at = 0, before = 0;
	bool sorted = true;

	while (dt_eh_next(&k->s, &at, &f)) {
		sorted = sorted && f.start >= before;
		before = f.start;
		*dt_vec_add(&k->fdes, NULL) = f;
	}
	if (!sorted)
		qsort(k->fdes.v, k->fdes.n, sizeof(*k->fdes.v), by_start);
}

#define PADDING 16 /* functions begin at multiples of it; a smaller gap is not code */

static void end_row(struct maker *k, uint64_t pc)
{
	dt_unwind_row none = {.pc = (uint32_t)pc, .cfa = DT_UW_NONE};

	add_row(k, &none);
}

static void segment_rows(struct maker *k, const struct dt_unwind_segment *seg)
{
	uint64_t shift = seg->offset - seg->vaddr, done = 0;

	for (; k->next < k->fdes.n; k->next++) {
		struct dt_eh_fde f = k->fdes.v[k->next];

		if (f.start < seg->vaddr || f.start < done)
			continue; /* data, or described twice */
		if (f.start - seg->vaddr >= seg->size)
			break;
		if (f.end - seg->vaddr > seg->size)
			f.end = seg->vaddr + seg->size;
		if (done && f.start - done >= PADDING)
			end_row(k, done + shift);
		run_fde(k, &f, shift);
		done = f.end;
	}
	if (done)
		end_row(k, done + shift);
}

#define BUDGET_SPARE (1u << 20)

void dt_unwind_parse(const dt_arch *a, const void *data, uint64_t size, uint64_t vaddr,
		     const struct dt_unwind_segment *segs, uint32_t nsegs, dt_unwind *u)
{
	struct maker k = {.arch = a,
			  .s = {.data = data, .size = size, .vaddr = vaddr, .word = 8},
			  .u = u,
			  .budget = 4 * size + BUDGET_SPARE};
	uint64_t end_of_last = 0;

	*u = (dt_unwind){0};
	collect(&k);
	for (uint32_t i = 0; i < nsegs; i++) {
		if (segs[i].offset < end_of_last || segs[i].offset > UINT32_MAX ||
		    segs[i].size > UINT32_MAX - segs[i].offset ||
		    segs[i].size > UINT64_MAX - segs[i].vaddr)
			continue; /* linkers do not produce such a file */
		end_of_last = segs[i].offset + segs[i].size;
		segment_rows(&k, &segs[i]);
	}
	dt_vec_free(&k.fdes);
	if (u->n == 1)
		dt_unwind_free(u);
}

void dt_unwind_read(dt_elf *e, dt_unwind *u)
{
	const dt_arch *a = dt_arch_of(dt_elf_machine(e));
	DT_VEC(struct dt_unwind_segment) segs = {0};
	const struct dt_elf_segment *all;
	struct dt_elf_section s;
	uint32_t n = dt_elf_segments(e, &all);

	*u = (dt_unwind){0};
	if (e->remote) {
		dt_elf_ask_unwind(e, u);
		return;
	}
	if (!a || !dt_elf_is_64(e) || !dt_elf_section(e, ".eh_frame", &s) || !s.data)
		return;
	for (uint32_t i = 0; i < n; i++)
		if (all[i].exec)
			*dt_vec_add(&segs, NULL) =
			    (struct dt_unwind_segment){.vaddr = all[i].vaddr,
						       .size = all[i].file_size,
						       .offset = all[i].offset};
	dt_unwind_parse(a, s.data, s.data_size, s.vaddr, segs.v, segs.n, u);
	dt_vec_free(&segs);
}

void dt_unwind_free(dt_unwind *u)
{
	dt_vec_release(u->rows);
	*u = (dt_unwind){0};
}

const dt_unwind_row *dt_unwind_find(const dt_unwind *u, uint32_t pc)
{
	uint32_t lo = 0, hi = u->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (u->rows[mid].pc <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &u->rows[lo - 1] : NULL;
}

/* ---- printing ---- */

static void print_place(dt_buf *out, const char *reg, int16_t at)
{
	if (at == DT_UW_LOST)
		dt_buf_printf(out, " %s lost", reg);
	else if (at == DT_UW_AT_FP)
		dt_buf_printf(out, " %s at (fp)", reg);
	else if (at != DT_UW_SAME)
		dt_buf_printf(out, " %s at cfa%+d", reg, at * 8);
}

void dt_unwind_print(const dt_unwind_row *r, dt_buf *out)
{
	static const char *const words[] = {
	    [DT_UW_NONE] = "none", [DT_UW_END] = "end", [DT_UW_STOP] = "stop"};
	int32_t n = DT_UW_VALUE(r->cfa);

	dt_buf_printf(out, "%x: ", r->pc);
	switch (DT_UW_KIND(r->cfa)) {
	case DT_UW_SP: dt_buf_printf(out, "sp%+d", n); break;
	case DT_UW_FP: dt_buf_printf(out, "fp%+d", n); break;
	case DT_UW_BASE: dt_buf_printf(out, "base%+d", n); break;
	case DT_UW_REG:
		dt_buf_printf(out, "reg %u%+d", DT_UW_REG_OF(r->cfa), DT_UW_REG_VALUE(r->cfa));
		break;
	case DT_UW_SP_DEREF:
	case DT_UW_FP_DEREF:
		dt_buf_printf(out, "*(%s%+d)+%u",
			      DT_UW_KIND(r->cfa) == DT_UW_SP_DEREF ? "sp" : "fp",
			      DT_UW_DEREF(r->cfa), DT_UW_ADD(r->cfa));
		break;
	case DT_UW_PLT: dt_buf_printf(out, "plt %d", n); break;
	case DT_UW_SIGNAL: dt_buf_printf(out, "signal sp%+d", n); break;
	default:
		dt_buf_puts(out,
			    DT_UW_KIND(r->cfa) <= DT_UW_STOP ? words[DT_UW_KIND(r->cfa)] : "?");
	}
	print_place(out, "fp", r->fp);
	print_place(out, "base", r->base);
}

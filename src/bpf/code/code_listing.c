/*
 * code_listing: code as text: with absolute positions and numbers as the kernel sees it
 * (DTRACE_BPF_DUMP), or with labels and names, which irrelevant changes do not affect (unit tests).
 */
#include <stdio.h>
#include <stdlib.h>

#include "bpf/code/code_listing.h"

static const char *const alu_names[16] = {"+=",	 "-=", "*=", "/=", "|=",   "&=",    "<<=", ">>=",
					  "neg", "%=", "^=", "=",  "s>>=", "bswap", "?",   "?"};
static const char *const jmp_names[16] = {
    "", "==", ">", ">=", "&", "!=", "s>", "s>=", "call", "exit", "<", "<=", "s<", "s<=", "?", "?"};

/* ---- as the kernel sees it ---- */

static void print_one(const struct bpf_insn *i, uint32_t at, dt_buf *out)
{
	static const char *const sizes[] = {"u32", "u16", "u8", "u64"};
	const char *size = sizes[i->code >> 3 & 3];
	int op = i->code >> 4;

	switch (BPF_CLASS(i->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		dt_buf_printf(out, "%s%d %s ", BPF_CLASS(i->code) == BPF_ALU ? "w" : "r",
			      i->dst_reg, alu_names[op]);
		if (i->code & BPF_X)
			dt_buf_printf(out, "r%d", i->src_reg);
		else
			dt_buf_printf(out, "%d", i->imm);
		break;
	case BPF_LDX:
		dt_buf_printf(out, "r%d = *(%s *)(r%d %+d)", i->dst_reg, size, i->src_reg, i->off);
		break;
	case BPF_ST:
		dt_buf_printf(out, "*(%s *)(r%d %+d) = %d", size, i->dst_reg, i->off, i->imm);
		break;
	case BPF_STX:
		dt_buf_printf(out, "%s*(%s *)(r%d %+d) = r%d",
			      BPF_MODE(i->code) == BPF_ATOMIC ? "atomic " : "", size, i->dst_reg,
			      i->off, i->src_reg);
		break;
	case BPF_LD:
		dt_buf_printf(out, "r%d = imm64 (%d) %d", i->dst_reg, i->src_reg, i->imm);
		break;
	default:
		if (op == BPF_CALL >> 4)
			dt_buf_printf(
			    out,
			    i->src_reg == BPF_PSEUDO_CALL	  ? "call function at %d"
			    : i->src_reg == BPF_PSEUDO_KFUNC_CALL ? "call kernel function %d"
								  : "call helper %d",
			    i->src_reg == BPF_PSEUDO_CALL ? (int)at + 1 + i->imm : i->imm);
		else if (op == BPF_EXIT >> 4)
			dt_buf_puts(out, "exit");
		else if (op == BPF_JA >> 4)
			dt_buf_printf(out, "goto %d", (int)at + 1 + i->off);
		else if (i->code == DT_MAY_GOTO)
			dt_buf_printf(out, "may_goto %d", (int)at + 1 + i->off);
		else if (i->code & BPF_X)
			dt_buf_printf(out, "if r%d %s r%d goto %d", i->dst_reg, jmp_names[op],
				      i->src_reg, (int)at + 1 + i->off);
		else
			dt_buf_printf(out, "if r%d %s %d goto %d", i->dst_reg, jmp_names[op],
				      i->imm, (int)at + 1 + i->off);
	}
}

void dt_code_print(const dt_code *c, dt_buf *out)
{
	for (uint32_t at = 0; at < c->insns.n; at++) {
		for (uint32_t f = 0; f < c->funcs.n; f++)
			if (c->funcs.v[f].start == at)
				dt_buf_printf(out, "%s:\n", c->funcs.v[f].name);
		dt_buf_printf(out, "%5u: ", at);
		print_one(&c->insns.v[at], at, out);
		dt_buf_putc(out, '\n');
		if (c->insns.v[at].code == (BPF_LD | BPF_IMM | BPF_DW))
			at++;
	}
}

/* ---- with names ---- */

#define NAME_OF(name) #name
static const char *const helper_names[] = {__BPF_FUNC_MAPPER(NAME_OF)};

struct lister {
	const dt_code *c;
	const struct dt_code_names *names;
	uint32_t *label; /* by instruction: number of the label there, from 1; 0: none */
	dt_buf *out;
};

static bool is_jump(const struct bpf_insn *i)
{
	int op = i->code & 0xf0;

	return BPF_CLASS(i->code) == BPF_JMP && op != BPF_CALL && op != BPF_EXIT;
}

static bool is_long(const struct bpf_insn *i)
{
	return i->code == (BPF_LD | BPF_IMM | BPF_DW);
}

/* Number the targets of jumps, in order of position. */
static void find_labels(struct lister *l, uint32_t from, uint32_t to)
{
	uint32_t n = 0;

	for (uint32_t at = from; at < to; at++) {
		const struct bpf_insn *i = &l->c->insns.v[at];

		if (is_jump(i))
			l->label[at + 1 + (uint32_t)i->off] = 1;
		at += is_long(i);
	}
	for (uint32_t at = from; at <= to; at++)
		if (l->label[at])
			l->label[at] = ++n;
}

/* The field or area of the slot at this offset. */
static void put_slot(struct lister *l, int off)
{
	const struct dt_code_name *best = NULL;

	for (const struct dt_code_name *x = l->names->slot; x->name; x++)
		if (x->number <= off && (!best || x->number >= best->number))
			best = x;
	dt_buf_printf(l->out, "%s", best ? best->name : "slot");
	if (best && off != best->number)
		dt_buf_printf(l->out, "+%d", off - best->number);
}

static void put_map(struct lister *l, int fd)
{
	for (const struct dt_code_name *x = l->names->maps; x->name; x++)
		if (x->number == fd) {
			dt_buf_puts(l->out, x->name);
			return;
		}
	dt_buf_printf(l->out, "map %d", fd);
}

/* Byte `at` of the value of a map. */
static void put_value(struct lister *l, int fd, int at)
{
	const struct dt_code_name *x = fd == l->names->fields_of ? l->names->fields : NULL;

	dt_buf_puts(l->out, "&");
	put_map(l, fd);
	while (x && x->name && x->number != at)
		x++;
	if (x && x->name)
		dt_buf_printf(l->out, ".%s", x->name);
	else
		dt_buf_printf(l->out, "[%d]", at);
}

static void put_memory(struct lister *l, const struct bpf_insn *i, int base)
{
	static const char *const sizes[] = {"u32", "u16", "u8", "u64"};

	dt_buf_printf(l->out, "%s ", sizes[i->code >> 3 & 3]);
	if (base == R6)
		put_slot(l, i->off);
	else if (i->off)
		dt_buf_printf(l->out, "[r%d%+d]", base, i->off);
	else
		dt_buf_printf(l->out, "[r%d]", base);
}

static void put_alu(struct lister *l, uint32_t at)
{
	const struct bpf_insn *i = &l->c->insns.v[at], *before = at ? i - 1 : i;
	int op = i->code >> 4;
	char reg = BPF_CLASS(i->code) == BPF_ALU ? 'w' : 'r';

	if (op == BPF_NEG >> 4) {
		dt_buf_printf(l->out, "%c%d = -%c%d", reg, i->dst_reg, reg, i->dst_reg);
		return;
	}
	dt_buf_printf(l->out, "%c%d %s ", reg, i->dst_reg, alu_names[op]);
	if (i->code & BPF_X)
		dt_buf_printf(l->out, i->src_reg == R6 ? "slot" : "%c%d", reg, i->src_reg);
	else if (op == BPF_ADD >> 4 && before->src_reg == R6 && before->dst_reg == i->dst_reg &&
		 (before->code == (BPF_ALU64 | BPF_MOV | BPF_X) ||
		  before->code == (BPF_ALU64 | BPF_ADD | BPF_X)))
		put_slot(l, i->imm);
	else
		dt_buf_printf(l->out, "%d", i->imm);
}

static void put_long(struct lister *l, const struct bpf_insn *i)
{
	dt_buf_printf(l->out, "r%d = ", i->dst_reg);
	if (i->src_reg == BPF_PSEUDO_MAP_FD) {
		put_map(l, i->imm);
	} else if (i->src_reg == BPF_PSEUDO_MAP_VALUE) {
		put_value(l, i->imm, i[1].imm);
	} else if (i->src_reg == BPF_PSEUDO_FUNC) {
		dt_buf_puts(l->out, "&function");
	} else {
		dt_buf_printf(l->out, "0x%llx",
			      (unsigned long long)(uint32_t)i[1].imm << 32 | (uint32_t)i->imm);
	}
}

static void put_call(struct lister *l, uint32_t at)
{
	const struct bpf_insn *i = &l->c->insns.v[at];
	uint32_t to = at + 1 + (uint32_t)i->imm;

	if (i->src_reg == BPF_PSEUDO_KFUNC_CALL) {
		dt_buf_printf(l->out, "call kernel function %d", i->imm);
	} else if (i->src_reg != BPF_PSEUDO_CALL) {
		dt_buf_printf(l->out, "call %s",
			      (size_t)i->imm < DT_NELEM(helper_names) ? helper_names[i->imm] : "?");
	} else {
		for (uint32_t f = 0; f < l->c->funcs.n; f++)
			if (l->c->funcs.v[f].start == to)
				dt_buf_printf(l->out, "call %s()", l->c->funcs.v[f].name);
	}
}

static void put_jump(struct lister *l, uint32_t at)
{
	const struct bpf_insn *i = &l->c->insns.v[at];
	int op = i->code >> 4;

	if (i->code == DT_MAY_GOTO) {
		dt_buf_puts(l->out, "may_");
	} else if (op != BPF_JA >> 4) {
		dt_buf_printf(l->out, "if r%d %s ", i->dst_reg, jmp_names[op]);
		dt_buf_printf(l->out, i->code & BPF_X ? "r%d " : "%d ",
			      i->code & BPF_X ? i->src_reg : i->imm);
	}
	dt_buf_printf(l->out, "goto L%u", l->label[at + 1 + (uint32_t)i->off]);
}

static const char *store_name(const struct bpf_insn *i)
{
	if (BPF_MODE(i->code) != BPF_ATOMIC)
		return "=";
	switch (i->imm) {
	case BPF_ADD: return "atomic +=";
	case BPF_ADD | BPF_FETCH: return "atomic fetch +=";
	case BPF_AND: return "atomic &=";
	case BPF_XCHG: return "atomic xchg";
	case BPF_CMPXCHG: return "atomic cmpxchg r0,";
	default: return "atomic ?";
	}
}

static void put_one(struct lister *l, uint32_t at)
{
	const struct bpf_insn *i = &l->c->insns.v[at];

	if (is_jump(i)) {
		put_jump(l, at);
		return;
	}
	switch (BPF_CLASS(i->code)) {
	case BPF_ALU:
	case BPF_ALU64: put_alu(l, at); break;
	case BPF_LDX:
		dt_buf_printf(l->out, "r%d = ", i->dst_reg);
		put_memory(l, i, i->src_reg);
		break;
	case BPF_ST:
		put_memory(l, i, i->dst_reg);
		dt_buf_printf(l->out, " = %d", i->imm);
		break;
	case BPF_STX:
		put_memory(l, i, i->dst_reg);
		dt_buf_printf(l->out, " %s r%d", store_name(i), i->src_reg);
		break;
	case BPF_LD: put_long(l, i); break;
	default:
		if ((i->code & 0xf0) == BPF_EXIT)
			dt_buf_puts(l->out, "exit");
		else
			put_call(l, at);
	}
}

void dt_code_list(const dt_code *c, uint32_t from, uint32_t to, const struct dt_code_names *names,
		  dt_buf *out)
{
	struct lister l = {c, names, dt_xcalloc(c->insns.n + 1, sizeof(*l.label)), out};

	find_labels(&l, from, to);
	for (uint32_t at = from; at < to; at++) {
		if (l.label[at])
			dt_buf_printf(out, "L%u:\n", l.label[at]);
		dt_buf_putc(out, '\t');
		put_one(&l, at);
		dt_buf_putc(out, '\n');
		at += is_long(&c->insns.v[at]);
	}
	if (l.label[to])
		dt_buf_printf(out, "L%u:\n", l.label[to]);
	free(l.label);
}

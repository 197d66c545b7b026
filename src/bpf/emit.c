/*
 * emit: collecting instructions, and giving jumps and calls their distances.
 */
#include "bpf/emit.h"

void dt_bpf_code_free(dt_bpf_code *c)
{
	dt_vec_free(&c->insns);
	dt_vec_free(&c->labels);
	dt_vec_free(&c->fixes);
	dt_vec_free(&c->funcs);
}

void dt_bpf_insn(dt_bpf_code *c, uint8_t code, int dst, int src, int16_t off, int32_t imm)
{
	struct bpf_insn *i = dt_vec_add(&c->insns, NULL);

	i->code = code;
	i->dst_reg = (uint8_t)dst & 15;
	i->src_reg = (uint8_t)src & 15;
	i->off = off;
	i->imm = imm;
}

void dt_bpf_imm64(dt_bpf_code *c, int dst, int src, uint32_t lo, uint32_t hi)
{
	dt_bpf_insn(c, BPF_LD | BPF_IMM | BPF_DW, dst, src, 0, (int32_t)lo);
	dt_bpf_insn(c, 0, 0, 0, 0, (int32_t)hi);
}

/* ---- functions and labels ---- */

uint32_t dt_bpf_func_new(dt_bpf_code *c, const char *name)
{
	struct dt_bpf_func *f = dt_vec_add(&c->funcs, NULL);

	f->start = UINT32_MAX;
	strncpy(f->name, name, sizeof(f->name) - 1);
	return c->funcs.n - 1;
}

void dt_bpf_func_begin(dt_bpf_code *c, uint32_t func)
{
	c->funcs.v[func].start = c->insns.n;
}

uint32_t dt_bpf_label(dt_bpf_code *c)
{
	*dt_vec_add(&c->labels, NULL) = UINT32_MAX;
	return c->labels.n - 1;
}

void dt_bpf_place(dt_bpf_code *c, uint32_t label)
{
	c->labels.v[label] = c->insns.n;
}

/* ---- what must be fixed later ---- */

static void fix(dt_bpf_code *c, uint32_t target, bool is_call)
{
	*dt_vec_add(&c->fixes, NULL) =
	    (struct dt_bpf_fix){ .insn = c->insns.n, .target = target, .is_call = is_call };
}

void dt_bpf_jump(dt_bpf_code *c, int op, int dst, int src, uint32_t label)
{
	fix(c, label, false);
	dt_bpf_insn(c, (uint8_t)(BPF_JMP | op | BPF_X), dst, src, 0, 0);
}

void dt_bpf_jumpi(dt_bpf_code *c, int op, int dst, int32_t n, uint32_t label)
{
	fix(c, label, false);
	dt_bpf_insn(c, (uint8_t)(BPF_JMP | op | BPF_K), dst, 0, 0, n);
}

void dt_bpf_call(dt_bpf_code *c, uint32_t func)
{
	fix(c, func, true);
	dt_bpf_insn(c, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 0);
}

void dt_bpf_func_addr(dt_bpf_code *c, int dst, uint32_t func)
{
	fix(c, func, true);
	dt_bpf_imm64(c, dst, BPF_PSEUDO_FUNC, 0, 0);
}

int dt_bpf_code_finish(dt_bpf_code *c)
{
	for (uint32_t i = 0; i < c->fixes.n && !c->problem; i++) {
		const struct dt_bpf_fix *f = &c->fixes.v[i];
		uint32_t to = f->is_call ? c->funcs.v[f->target].start : c->labels.v[f->target];
		int64_t distance = (int64_t)to - f->insn - 1;

		if (to == UINT32_MAX)
			c->problem = "internal: a jump or call without a target";
		else if (f->is_call)
			c->insns.v[f->insn].imm = (int32_t)distance;
		else if (distance != (int16_t)distance)
			c->problem = "a clause is too large for the kernel";
		else
			c->insns.v[f->insn].off = (int16_t)distance;
	}
	return c->problem ? -1 : 0;
}

/* ---- listing ---- */

static const char *const alu_names[16] = { "+=", "-=", "*=", "/=", "|=", "&=", "<<=", ">>=",
					   "neg", "%=", "^=", "=", "s>>=", "bswap", "?", "?" };
static const char *const jmp_names[16] = { "", "==", ">", ">=", "&", "!=", "s>", "s>=",
					   "call", "exit", "<", "<=", "s<", "s<=", "?", "?" };

static void print_one(const struct bpf_insn *i, uint32_t at, dt_buf *out)
{
	static const char *const sizes[] = { "u32", "u16", "u8", "u64" };
	const char *size = sizes[i->code >> 3 & 3];
	int op = i->code >> 4;

	switch (BPF_CLASS(i->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		dt_buf_printf(out, "%s%d %s ", BPF_CLASS(i->code) == BPF_ALU ? "w" : "r", i->dst_reg,
			      alu_names[op]);
		if (i->code & BPF_X)
			dt_buf_printf(out, "r%d", i->src_reg);
		else
			dt_buf_printf(out, "%d", i->imm);
		break;
	case BPF_LDX:
		dt_buf_printf(out, "r%d = *(%s *)(r%d %+d)", i->dst_reg, size, i->src_reg, i->off);
		break;
	case BPF_ST: dt_buf_printf(out, "*(%s *)(r%d %+d) = %d", size, i->dst_reg, i->off, i->imm); break;
	case BPF_STX:
		dt_buf_printf(out, "%s*(%s *)(r%d %+d) = r%d",
			      BPF_MODE(i->code) == BPF_ATOMIC ? "atomic " : "", size, i->dst_reg, i->off,
			      i->src_reg);
		break;
	case BPF_LD: dt_buf_printf(out, "r%d = imm64 (%d) %d", i->dst_reg, i->src_reg, i->imm); break;
	default:
		if (op == BPF_CALL >> 4)
			dt_buf_printf(out, i->src_reg ? "call function at %d" : "call helper %d",
				      i->src_reg ? (int)at + 1 + i->imm : i->imm);
		else if (op == BPF_EXIT >> 4)
			dt_buf_puts(out, "exit");
		else if (op == BPF_JA >> 4)
			dt_buf_printf(out, "goto %d", (int)at + 1 + i->off);
		else if (i->code & BPF_X)
			dt_buf_printf(out, "if r%d %s r%d goto %d", i->dst_reg, jmp_names[op], i->src_reg,
				      (int)at + 1 + i->off);
		else
			dt_buf_printf(out, "if r%d %s %d goto %d", i->dst_reg, jmp_names[op], i->imm,
				      (int)at + 1 + i->off);
	}
}

void dt_bpf_code_print(const dt_bpf_code *c, dt_buf *out)
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

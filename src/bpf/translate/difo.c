/*
 * difo: DIF instructions become eBPF, one by one.
 *
 * DIF registers are words of the slot, or registers of eBPF where that is safe (tr_register.c). What
 * the translator knows about a register (tr_value.c) is kept separately. DIF branches only go
 * forward, so one pass is enough: at a label, only what all paths to it agree on is known.
 *
 * Every instruction that can fault stores its offset before; on a fault control goes to one place
 * per fault code at the end of the function, which stores the code and leaves with 1.
 *
 *	add %r1, %r2, %r3	r0 = slot->reg[1]; r1 = slot->reg[2]; r0 += r1; slot->reg[3] = r0
 *	cmp %r1, %r2; bg 7	r1 = slot->reg[1]; r2 = slot->reg[2]; if r1 s> r2 goto L7
 *	ldub [%r1], %r2		r0 = *(u8 *)slot->reg[1], or if that is 0: probe_read_kernel(&slot->tmp, 1, slot->reg[1])
 */
#include <stdio.h>
#include <stdlib.h>

#include "bpf/translate/translate.h"

/* ---- faults ---- */

void dt_tr_here(dt_tr *t)
{
	if (!t->function) /* there it is the call */
		sti(t->c, 4, R6, S_FOFFSET, (int32_t)t->loff);
}

void dt_tr_can_fault(dt_tr *t)
{
	t->faults = true;
	dt_tr_reads(t, faults);
}

uint32_t dt_tr_fault_label(dt_tr *t, uint32_t code)
{
	if (t->fault[code] == UINT32_MAX)
		t->fault[code] = dt_code_label(t->c);
	dt_tr_can_fault(t);
	return t->fault[code];
}

/* if (0 == 0) goto fault: the kernel refuses unreachable code, as after a plain jump */
void dt_tr_user_memory(dt_tr *t)
{
	if (!t->task_arg)
		return;
	movi(t->c, R0, 0);
	jmpi(t->c, BPF_JEQ, R0, 0, dt_tr_fault_label(t, DT_FLT_BADADDR));
}

/* code: slot->fault = code + 1; goto fault_exit */
void dt_tr_fault_paths(dt_tr *t)
{
	for (uint32_t code = 0; code < DT_NELEM(t->fault); code++) {
		if (t->fault[code] == UINT32_MAX)
			continue;
		dt_code_place(t->c, t->fault[code]);
		sti(t->c, 4, R6, S_FAULT, (int32_t)code + 1);
		if (code != DT_FLT_BADADDR && code != DT_FLT_BADALIGN)
			sti(t->c, 8, R6, S_FVALUE, 0);
		ja(t->c, t->fault_exit);
		t->fault[code] = UINT32_MAX;
	}
}

/* ---- arithmetic ---- */

static void negate_if_negative(dt_code *c, int reg, int test)
{
	uint32_t positive = dt_code_label(c);

	jmpi(c, BPF_JSGE, test, 0, positive);
	dt_code_insn(c, BPF_ALU64 | BPF_NEG, reg, 0, 0, 0);
	dt_code_place(c, positive);
}

/* eBPF divides unsigned; signs are taken off before and put on after. The quotient is negative
 * when the signs differ, the remainder when the dividend is. */
static void divide(dt_tr *t, uint32_t op, uint32_t a, uint32_t b)
{
	bool is_signed = op == DT_OP_SDIV || op == DT_OP_SREM;
	int bop = op == DT_OP_SDIV || op == DT_OP_UDIV ? BPF_DIV : BPF_MOD;
	const dt_tr_val *v = &t->now.reg[b];
	dt_code *c = t->c;

	dt_tr_get(t, R0, a);
	dt_tr_get(t, R1, b);
	if (b == 0 || v->kind != V_CONST || v->n == 0) {
		dt_tr_here(t);
		jmpi(c, BPF_JEQ, R1, 0, dt_tr_fault_label(t, DT_FLT_DIVZERO));
	}
	if (is_signed) {
		mov(c, R2, R0);
		if (op == DT_OP_SDIV)
			alu(c, BPF_XOR, R2, R1);
		negate_if_negative(c, R0, R0);
		negate_if_negative(c, R1, R1);
	}
	alu(c, bop, R0, R1);
	if (is_signed)
		negate_if_negative(c, R0, R2);
}

static int alu_op(uint32_t op)
{
	switch (op) {
	case DT_OP_OR: return BPF_OR;
	case DT_OP_XOR: return BPF_XOR;
	case DT_OP_AND: return BPF_AND;
	case DT_OP_SLL: return BPF_LSH;
	case DT_OP_SRL: return BPF_RSH;
	case DT_OP_SRA: return BPF_ARSH;
	case DT_OP_SUB: return BPF_SUB;
	case DT_OP_ADD: return BPF_ADD;
	default: return BPF_MUL;
	}
}

static bool is_commutative(uint32_t op)
{
	return op == DT_OP_ADD || op == DT_OP_MUL || op == DT_OP_AND || op == DT_OP_OR || op == DT_OP_XOR;
}

static void arithmetic(dt_tr *t, uint32_t op, uint32_t x, uint32_t y, uint32_t rd)
{
	bool swap = is_commutative(op) && dt_tr_at_hand(t, y);
	uint32_t a = swap ? y : x, b = swap ? x : y;
	const dt_tr_val *v = &t->now.reg[b];
	bool shift = op == DT_OP_SLL || op == DT_OP_SRL || op == DT_OP_SRA;
	bool is_const = b == 0 || v->kind == V_CONST;
	uint64_t n = b == 0 ? 0 : v->n;
	dt_code *c = t->c;

	if (op >= DT_OP_SDIV && op <= DT_OP_UREM) {
		divide(t, op, a, b);
	} else if (is_const && (shift || (int64_t)n == (int32_t)n)) {
		dt_tr_get(t, R0, a);
		alui(c, alu_op(op), R0, shift ? (int32_t)(n & 63) : (int32_t)n);
	} else {
		dt_tr_get(t, R0, a);
		dt_tr_get(t, R1, b);
		if (shift)
			alui(c, BPF_AND, R1, 63);
		alu(c, alu_op(op), R0, R1);
	}
	dt_tr_set(t, rd, R0, op == DT_OP_ADD ? dt_tr_sum(&t->now.reg[a], v) : NUMBER);
}

/* ---- loads ---- */

static const struct {
	uint8_t size;
	bool is_signed;
} load_kinds[7] = {{1, true}, {2, true}, {4, true}, {1, false}, {2, false}, {4, false}, {8, false}};

/* r0 = the value at an address that may be bad: first by a load, if the kernel supports that, and
 * if that gives 0 by the helper */
static void careful_load(dt_tr *t, const dt_tr_val *v, uint32_t size, bool user, uint32_t from)
{
	dt_code *c = t->c;
	uint32_t have = dt_code_label(c);
	bool loaded = false;

	dt_tr_get(t, R3, from);
	st(c, 8, R6, S_FVALUE, R3);
	if (dt_tr_trust(t, v, size) == TRUST_MAYBE) {
		dt_tr_trusted_load(t, v, size);
		loaded = true;
	} else if (!user) {
		loaded = dt_tr_direct(t, size);
	}
	if (loaded) {
		jmpi(c, BPF_JNE, R0, 0, have);
		ld(c, 8, R3, R6, S_FVALUE);
	}
	dt_tr_here(t);
	if (user)
		dt_tr_user_memory(t);
	dt_slot_lea(c, R1, S_TMP);
	movi(c, R2, (int32_t)size);
	dt_tr_read(t, user ? BPF_FUNC_probe_read_user : BPF_FUNC_probe_read_kernel);
	jmpi(c, BPF_JNE, R0, 0, dt_tr_fault_label(t, DT_FLT_BADADDR));
	ld(c, size, R0, R6, S_TMP);
	dt_code_place(c, have);
}

static void load(dt_tr *t, uint32_t which, bool user, uint32_t from, uint32_t rd)
{
	uint32_t size = load_kinds[which].size;
	dt_tr_val v = from && !user ? t->now.reg[from] : NUMBER;
	dt_code *c = t->c;

	if (dt_tr_trust(t, &v, size) == TRUST_YES) {
		dt_tr_get(t, R3, from);
		if (!dt_tr_direct(t, size))
			dt_tr_trusted_load(t, &v, size);
	} else {
		careful_load(t, &v, size, user, from);
	}
	if (load_kinds[which].is_signed) {
		alui(c, BPF_LSH, R0, 64 - (int)size * 8);
		alui(c, BPF_ARSH, R0, 64 - (int)size * 8);
	}
	dt_tr_set(t, rd, R0, dt_tr_followed(&v, size));
}

/* ---- comparing and branching ---- */

static bool is_branch(dt_instr i)
{
	return DT_I_OP(i) >= DT_OP_BA && DT_I_OP(i) <= DT_OP_BLEU;
}

static bool is_conditional(dt_instr i)
{
	return is_branch(i) && DT_I_OP(i) != DT_OP_BA;
}

/* Are the flags of the comparison at pc read only by the branch right after it? */
static bool flags_die(const dt_difo *d, uint32_t pc)
{
	uint32_t to;

	if (pc + 2 >= d->len || !is_conditional(d->text[pc + 1]))
		return false;
	to = DT_I_LABEL(d->text[pc + 1]);
	return !is_branch(d->text[pc + 2]) && to < d->len && !is_branch(d->text[to]);
}

static bool only_equality(const dt_difo *d, uint32_t pc)
{
	return flags_die(d, pc) &&
	       (DT_I_OP(d->text[pc + 1]) == DT_OP_BE || DT_I_OP(d->text[pc + 1]) == DT_OP_BNE);
}

static void make_bool(dt_code *c, int reg)
{
	uint32_t zero = dt_code_label(c);

	jmpi(c, BPF_JEQ, reg, 0, zero);
	movi(c, reg, 1);
	dt_code_place(c, zero);
}

/* Is it a constant that an instruction of eBPF can have? */
static bool is_small(const dt_tr *t, uint32_t reg, int32_t *n)
{
	const dt_tr_val *v = &t->now.reg[reg];

	*n = reg ? (int32_t)v->n : 0;
	return reg == 0 || (v->kind == V_CONST && (int64_t)v->n == *n);
}

/* What the branch after this compares with a number. */
static void compare_with(dt_tr *t, uint32_t reg, int32_t n)
{
	int from = dt_tr_at_hand(t, reg) ? t->c->insns.v[t->c->insns.n - 1].src_reg : R1;

	dt_tr_get(t, from, reg);
	t->compared = (struct dt_tr_compared){.reg = from, .with_number = true, .n = n};
}

static void compare_two(dt_tr *t, uint32_t a, uint32_t b)
{
	bool second_first = dt_tr_at_hand(t, b);

	if (second_first)
		dt_tr_get(t, R2, b);
	dt_tr_get(t, R1, a);
	if (!second_first)
		dt_tr_get(t, R2, b);
}

/* r1 and r2 are the operands; they are saved in the slot unless the next branch is the only reader. */
static void compare(dt_tr *t, const dt_difo *d, uint32_t pc)
{
	dt_instr i = d->text[pc];
	bool dies = flags_die(d, pc);
	dt_code *c = t->c;
	int32_t n;

	t->compared.with_number = false;
	switch (DT_I_OP(i)) {
	case DT_OP_CMP:
		if (dies && is_small(t, DT_I_R2(i), &n)) {
			compare_with(t, DT_I_R1(i), n);
			return;
		}
		compare_two(t, DT_I_R1(i), DT_I_R2(i));
		break;
	case DT_OP_TST: /* flags as of (r1 != 0) against 0 */
		if (only_equality(d, pc)) {
			compare_with(t, DT_I_R1(i), 0);
			return;
		}
		dt_tr_get(t, R1, DT_I_R1(i));
		make_bool(c, R1);
		movi(c, R2, 0);
		break;
	default:
		dt_tr_compare(t, DT_I_R1(i), DT_I_R2(i), only_equality(d, pc));
		mov(c, R1, R0);
		movi(c, R2, 0);
	}
	if (!dies) {
		st(c, 8, R6, S_CMP_A, R1);
		st(c, 8, R6, S_CMP_B, R2);
	}
}

static int jump_op(uint32_t op)
{
	switch (op) {
	case DT_OP_BE: return BPF_JEQ;
	case DT_OP_BNE: return BPF_JNE;
	case DT_OP_BG: return BPF_JSGT;
	case DT_OP_BGU: return BPF_JGT;
	case DT_OP_BGE: return BPF_JSGE;
	case DT_OP_BGEU: return BPF_JGE;
	case DT_OP_BL: return BPF_JSLT;
	case DT_OP_BLU: return BPF_JLT;
	case DT_OP_BLE: return BPF_JSLE;
	default: return BPF_JLE;
	}
}

/* ---- what is known where paths meet ---- */

struct places {
	uint32_t *label;     /* of each instruction, UINT32_MAX: not a target */
	dt_tr_state **known; /* at it */
	uint32_t end;
	uint32_t zero; /* a condition goes there if it is 0; UINT32_MAX: it has its value in r0 */
	bool ends, is_zero; /* some path goes to the end, to zero */
	dt_tr_val out;
};

static void meet_val(dt_tr_val *a, const dt_tr_val *b, uint32_t ba, uint32_t bb)
{
	if (a->kind == b->kind && a->n == b->n &&
	    memcmp(&a->path, &b->path, sizeof(a->path)) == 0) {
		if (b->bound > a->bound)
			a->bound = b->bound;
		return;
	}
	*a = (dt_tr_val){.kind = V_STRING, .bound = ba > bb ? ba : bb};
}

static void meet(dt_tr *t, dt_tr_state *a, const dt_tr_state *b)
{
	a->not_stored |= b->not_stored;
	for (int i = 1; i < DT_DIF_NREGS; i++)
		meet_val(&a->reg[i], &b->reg[i], dt_tr_bound(t, &a->reg[i]),
			 dt_tr_bound(t, &b->reg[i]));
	/* x && a[k]: one path has built a tuple, the other has not; the next user of tuples starts
	 * a new one */
	a->tuple_lost = a->tuple_lost || b->tuple_lost || a->ntuple != b->ntuple;
	for (uint32_t i = 0; i < a->ntuple && i < b->ntuple; i++) {
		a->tuple_lost = a->tuple_lost || a->push[i].byref != b->push[i].byref ||
				a->push[i].type != b->push[i].type;
		meet_val(&a->tuple[i], &b->tuple[i], dt_tr_bound(t, &a->tuple[i]),
			 dt_tr_bound(t, &b->tuple[i]));
		meet_val(&a->push[i].size, &b->push[i].size, 0, 0);
	}
}

static void go_to(dt_tr *t, struct places *p, uint32_t pc)
{
	if (!p->known[pc]) {
		p->known[pc] = dt_xmalloc(sizeof(dt_tr_state));
		*p->known[pc] = t->now;
	} else {
		meet(t, p->known[pc], &t->now);
	}
}

/* ret %rd at pc, or a jump from there to a ret. */
static void give(dt_tr *t, struct places *p, uint32_t rd, bool last)
{
	dt_tr_val v = rd ? t->now.reg[rd] : (dt_tr_val){.kind = V_CONST};
	bool decides = p->zero != UINT32_MAX;

	t->reachable = false;
	if (decides && v.kind == V_CONST && v.n == 0) {
		p->is_zero = true;
		ja(t->c, p->zero);
		return;
	}
	if (!decides || v.kind != V_CONST)
		dt_tr_get(t, R0, rd);
	if (decides && v.kind != V_CONST) {
		p->is_zero = true;
		jmpi(t->c, BPF_JEQ, R0, 0, p->zero);
	}
	if (p->ends)
		meet_val(&p->out, &v, dt_tr_bound(t, &p->out), dt_tr_bound(t, &v));
	else
		p->out = v;
	p->ends = true;
	if (!last)
		ja(t->c, p->end);
}

static void branch(dt_tr *t, struct places *p, const dt_difo *d, uint32_t pc)
{
	dt_instr i = d->text[pc];
	uint32_t to = DT_I_LABEL(i), before = pc ? DT_I_OP(d->text[pc - 1]) : 0;
	bool fused = (before == DT_OP_CMP || before == DT_OP_TST || before == DT_OP_SCMP) &&
		     p->label[pc] == UINT32_MAX;

	if (to <= pc || to >= d->len) {
		dt_tr_fail(t, "at DIF offset %u: a branch that does not go forward", t->loff);
		return;
	}
	if (DT_I_OP(i) == DT_OP_BA && DT_I_OP(d->text[to]) == DT_OP_RET &&
	    (t->in_registers || p->zero != UINT32_MAX)) {
		give(t, p, DT_I_RD(d->text[to]), false);
		return;
	}
	if (t->live)
		dt_tr_before_label(t, to);
	go_to(t, p, to);
	if (DT_I_OP(i) == DT_OP_BA) {
		ja(t->c, p->label[to]);
		t->reachable = false;
		return;
	}
	if (!fused) {
		ld(t->c, 8, R1, R6, S_CMP_A);
		ld(t->c, 8, R2, R6, S_CMP_B);
	}
	if (fused && t->compared.with_number)
		jmpi(t->c, jump_op(DT_I_OP(i)), t->compared.reg, t->compared.n, p->label[to]);
	else
		jmp(t->c, jump_op(DT_I_OP(i)), R1, R2, p->label[to]);
}

/* ---- tuples ---- */

static void push(dt_tr *t, dt_instr i)
{
	uint32_t n = t->now.ntuple, rs = DT_I_RD(i);
	bool byref = DT_I_OP(i) == DT_OP_PUSHTR;

	if (n == DT_DIF_NTREGS) {
		dt_tr_here(t);
		ja(t->c, dt_tr_fault_label(t, DT_FLT_TUPOFLOW));
		t->reachable = false;
		return;
	}
	dt_tr_get(t, R0, rs);
	st(t->c, 8, R6, S_TUPLE + (int)n * 8, R0);
	t->now.tuple[n] = rs ? t->now.reg[rs] : (dt_tr_val){.kind = V_CONST};
	t->now.push[n].byref = byref;
	t->now.push[n].type = byref ? DT_I_TYPE(i) : DT_TYPE_CTF;
	t->now.push[n].size =
	    byref && DT_I_R2(i) ? t->now.reg[DT_I_R2(i)] : (dt_tr_val){.kind = V_CONST};
	t->now.ntuple++;
}

/* ---- one instruction ---- */

static void set_string(dt_tr *t, const dt_difo *d, uint32_t index, uint32_t rd)
{
	uint32_t at = dt_tr_string(t, index < d->strlen ? d->strtab + index : "");

	map_value(t->c, R0, t->maps->rodata, at);
	dt_tr_set(t, rd, R0, (dt_tr_val){.kind = V_TEXT, .n = at});
}

static void variable(dt_tr *t, uint32_t op, uint32_t id, uint32_t r)
{
	switch (op) {
	case DT_OP_LDGS:
		if (id < DT_VAR_USER_MIN)
			dt_tr_builtin(t, id, r);
		else
			dt_tr_var_load(t, DT_SCOPE_GLOBAL, id, r);
		break;
	case DT_OP_STGS: dt_tr_var_store(t, DT_SCOPE_GLOBAL, id, r); break;
	case DT_OP_LDLS: dt_tr_var_load(t, DT_SCOPE_LOCAL, id, r); break;
	case DT_OP_STLS: dt_tr_var_store(t, DT_SCOPE_LOCAL, id, r); break;
	case DT_OP_LDTS: dt_tr_var_load(t, DT_SCOPE_THREAD, id, r); break;
	case DT_OP_STTS: dt_tr_var_store(t, DT_SCOPE_THREAD, id, r); break;
	case DT_OP_LDGAA: dt_tr_array_load(t, DT_SCOPE_GLOBAL, id, r); break;
	case DT_OP_STGAA: dt_tr_array_store(t, DT_SCOPE_GLOBAL, id, r); break;
	case DT_OP_LDTAA: dt_tr_array_load(t, DT_SCOPE_THREAD, id, r); break;
	default: dt_tr_array_store(t, DT_SCOPE_THREAD, id, r); break;
	}
}

static bool uses_tuple(dt_instr i)
{
	switch (DT_I_OP(i)) {
	case DT_OP_PUSHTR:
	case DT_OP_PUSHTV:
	case DT_OP_POPTS:
	case DT_OP_LDGAA:
	case DT_OP_STGAA:
	case DT_OP_LDTAA:
	case DT_OP_STTAA: return true;
	case DT_OP_CALL: return DT_I_INDEX(i) < DT_CALL_FUNCTION;
	default: return false;
	}
}

static void illegal(dt_tr *t)
{
	dt_tr_here(t);
	ja(t->c, dt_tr_fault_label(t, DT_FLT_ILLOP));
	t->reachable = false;
}

static void step(dt_tr *t, struct places *p, const dt_difo *d, uint32_t pc)
{
	dt_instr i = d->text[pc];
	uint32_t op = DT_I_OP(i), r1 = DT_I_R1(i), r2 = DT_I_R2(i), rd = DT_I_RD(i),
		 index = DT_I_INDEX(i);
	dt_tr_val v;

	if (t->now.tuple_lost && uses_tuple(i))
		dt_tr_fail(t, "paths with different tuples meet before DIF offset %u", t->loff);
	switch (op) {
	case DT_OP_OR ... DT_OP_UREM:
	case DT_OP_SRA: arithmetic(t, op, r1, r2, rd); break;
	case DT_OP_NOT:
		dt_tr_get(t, R0, r1);
		alui(t->c, BPF_XOR, R0, -1);
		dt_tr_set(t, rd, R0, NUMBER);
		break;
	case DT_OP_MOV:
		dt_tr_get(t, R0, r1);
		v = r1 ? t->now.reg[r1] : (dt_tr_val){.kind = V_CONST};
		dt_tr_set(t, rd, R0, v);
		break;
	case DT_OP_CMP:
	case DT_OP_TST:
	case DT_OP_SCMP: compare(t, d, pc); break;
	case DT_OP_BA ... DT_OP_BLEU: branch(t, p, d, pc); break;
	case DT_OP_LDSB ... DT_OP_LDX: load(t, op - DT_OP_LDSB, false, r1, rd); break;
	case DT_OP_RLDSB ... DT_OP_RLDX: load(t, op - DT_OP_RLDSB, false, r1, rd); break;
	case DT_OP_ULDSB ... DT_OP_ULDX: load(t, op - DT_OP_ULDSB, true, r1, rd); break;
	case DT_OP_STB ... DT_OP_STX: dt_tr_store(t, 1u << (op - DT_OP_STB), r1, rd); break;
	case DT_OP_NOP: break;
	case DT_OP_SETX: dt_tr_set_const(t, rd, index < d->intlen ? d->inttab[index] : 0); break;
	case DT_OP_SETS: set_string(t, d, index, rd); break;
	case DT_OP_LDGA: dt_tr_builtin_array(t, r1, r2, rd); break;
	case DT_OP_LDGS:
	case DT_OP_STGS:
	case DT_OP_LDTS:
	case DT_OP_STTS:
	case DT_OP_LDGAA ... DT_OP_STLS: variable(t, op, index, rd); break;
	case DT_OP_CALL:
		if (index >= DT_CALL_FUNCTION)
			dt_tr_function(t, d, index - DT_CALL_FUNCTION, rd);
		else
			dt_tr_subr(t, index, rd);
		break;
	case DT_OP_PUSHTR:
	case DT_OP_PUSHTV: push(t, i); break;
	case DT_OP_POPTS: t->now.ntuple -= t->now.ntuple > 0; break;
	case DT_OP_FLUSHTS:
		t->now.ntuple = 0;
		t->now.tuple_lost = false;
		break;
	case DT_OP_ALLOCS:
		dt_tr_here(t);
		dt_tr_needs(t, memory);
		dt_tr_get(t, R1, r1);
		dt_tr_alloc(t, true);
		dt_slot_lea(t->c, R1, t->at->scratch);
		alu(t->c, BPF_ADD, R1, R0);
		dt_tr_set(t, rd, R1, NUMBER);
		break;
	case DT_OP_COPYS: dt_tr_copy(t, r1, r2, rd); break;
	default: illegal(t); break;
	}
}

static void check_relocs(dt_tr *t, const dt_difo *d)
{
	if (d->nrelocs)
		dt_tr_fail(t, "unknown kernel symbol %s",
			   d->relocs[0].name < d->strlen ? d->strtab + d->relocs[0].name : "?");
}

static void find_labels(dt_tr *t, const dt_difo *d, struct places *p)
{
	memset(p->label, 0xff, (d->len + 1) * sizeof(uint32_t));
	for (uint32_t pc = 0; pc < d->len; pc++)
		if (is_branch(d->text[pc]) && DT_I_LABEL(d->text[pc]) < d->len &&
		    p->label[DT_I_LABEL(d->text[pc])] == UINT32_MAX)
			p->label[DT_I_LABEL(d->text[pc])] = dt_code_label(t->c);
}

static void do_difo(dt_tr *t, const dt_difo *d, struct places *p)
{
	const uint16_t *outer = t->live;
	uint16_t *live;

	p->label = dt_xmalloc((d->len + 1) * sizeof(uint32_t));
	p->known = dt_xcalloc(d->len + 1, sizeof(dt_tr_state *));
	p->end = dt_code_label(t->c);
	p->out = NUMBER;
	find_labels(t, d, p);
	check_relocs(t, d);
	memset(&t->now, 0, sizeof(t->now));
	t->reachable = true;
	t->in_registers = dt_tr_in_registers(t, d);
	t->live = live = t->in_registers ? NULL : dt_tr_live(t, d);
	for (uint32_t pc = 0; pc < d->len && !t->failed; pc++) {
		t->loff = pc * (uint32_t)sizeof(dt_instr);
		t->pc = pc;
		t->instr = d->text[pc];
		if (p->known[pc]) { /* it is the target of a jump */
			if (t->reachable && t->live)
				dt_tr_before_label(t, pc);
			if (t->reachable)
				meet(t, p->known[pc], &t->now);
			t->now = *p->known[pc];
			t->reachable = true;
		}
		if (!t->reachable)
			continue; /* the kernel refuses unreachable code */
		if (p->label[pc] != UINT32_MAX)
			dt_code_place(t->c, p->label[pc]);
		if (DT_I_OP(d->text[pc]) == DT_OP_RET)
			give(t, p, DT_I_RD(d->text[pc]), pc + 1 == d->len);
		else
			step(t, p, d, pc);
	}
	dt_code_place(t->c, p->end);
	t->reachable = p->ends;
	t->in_registers = false;
	t->live = outer;
	free(live);
	for (uint32_t pc = 0; pc <= d->len; pc++)
		free(p->known[pc]);
	free(p->known);
	free(p->label);
}

void dt_tr_difo(dt_tr *t, const dt_difo *d, dt_tr_val *out)
{
	struct places p = {.zero = UINT32_MAX};

	do_difo(t, d, &p);
	*out = p.out;
}

bool dt_tr_condition(dt_tr *t, const dt_difo *d, uint32_t zero)
{
	struct places p = {.zero = zero};

	do_difo(t, d, &p);
	return p.is_zero;
}

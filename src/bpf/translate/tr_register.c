/*
 * tr_register: where DIF registers are.
 *
 * Usually they are words of the slot. The verifier does not track what is in there, so many paths
 * cannot confuse it: the code of a clause is verified in time linear in its size. But every
 * instruction then loads and stores, which is most of what a round of a loop costs.
 *
 * A DIFO that only computes with numbers and with variables that are numbers calls nothing, so its
 * registers can be registers of eBPF: those that the emitters of these instructions leave alone. The
 * verifier does follow values in them, down each path, so such a DIFO may have only a few branches.
 * At its end all of them are forgotten: the number of paths does not grow from one to the next.
 *
 * In the slot, what need not be stored is not, since each instruction takes the kernel a microsecond when it verifies the
 * program. A constant is stored only where paths meet, if it is read after that. A register that is read by the next
 * instruction is still in one of eBPF; if nothing else reads it, it is not stored at all.
 */
#include "bpf/translate/translate.h"

#define BRANCHES_MAX 8
#define LENGTH_MAX   256

static const int homes[] = {R0, R3, R4, R5, R9}; /* by DIF register; R0 is not used */

static bool is_number(const dt_tr *t, int scope, uint32_t id)
{
	struct dt_tr_var x = dt_tr_var_find(t, scope, id);

	return id >= DT_VAR_USER_MIN && !(x.v && x.v->byref);
}

static bool is_branch(dt_instr i)
{
	return DT_I_OP(i) >= DT_OP_BA && DT_I_OP(i) <= DT_OP_BLEU;
}

/* What an instruction does to DIF registers: bit n is register n. */
struct use {
	bool plain; /* it calls nothing */
	uint32_t reads, sets;
};

/* In instructions with a number these bits are not a register. */
static uint32_t bit(uint32_t reg)
{
	return 1u << (reg < DT_DIF_NREGS ? reg : DT_DIF_NREGS);
}

/* Those that are not plain */
static struct use other_use(dt_instr i)
{
	uint32_t r1 = bit(DT_I_R1(i)), r2 = bit(DT_I_R2(i)), rd = bit(DT_I_RD(i));

	switch (DT_I_OP(i)) {
	case DT_OP_SCMP: return (struct use){false, r1 | r2, 0};
	case DT_OP_LDSB ... DT_OP_LDX:
	case DT_OP_RLDSB ... DT_OP_RLDX:
	case DT_OP_ULDSB ... DT_OP_ULDX:
	case DT_OP_ALLOCS: return (struct use){false, r1, rd};
	case DT_OP_LDGA: return (struct use){false, r2, rd};
	case DT_OP_SETS:
	case DT_OP_LDTS:
	case DT_OP_LDGAA:
	case DT_OP_LDTAA:
	case DT_OP_CALL: return (struct use){false, 0, rd};
	case DT_OP_STTS:
	case DT_OP_STGAA:
	case DT_OP_STTAA: return (struct use){false, rd, 0};
	case DT_OP_PUSHTR:
	case DT_OP_PUSHTV: return (struct use){false, r2 | rd, 0};
	case DT_OP_POPTS:
	case DT_OP_FLUSHTS: return (struct use){false, 0, 0};
	default: return (struct use){false, UINT16_MAX, 0};
	}
}

static struct use use_of(const dt_tr *t, dt_instr i)
{
	uint32_t r1 = bit(DT_I_R1(i)), r2 = bit(DT_I_R2(i)), rd = bit(DT_I_RD(i));

	switch (DT_I_OP(i)) {
	case DT_OP_OR ... DT_OP_UREM:
	case DT_OP_SRA: return (struct use){true, r1 | r2, rd};
	case DT_OP_NOT:
	case DT_OP_MOV: return (struct use){true, r1, rd};
	case DT_OP_CMP: return (struct use){true, r1 | r2, 0};
	case DT_OP_TST: return (struct use){true, r1, 0};
	case DT_OP_BA ... DT_OP_BLEU:
	case DT_OP_NOP: return (struct use){true, 0, 0};
	case DT_OP_SETX: return (struct use){true, 0, rd};
	case DT_OP_RET: return (struct use){true, rd, 0};
	case DT_OP_LDGS: return (struct use){is_number(t, DT_SCOPE_GLOBAL, DT_I_INDEX(i)), 0, rd};
	case DT_OP_STGS: return (struct use){is_number(t, DT_SCOPE_GLOBAL, DT_I_INDEX(i)), rd, 0};
	case DT_OP_LDLS: return (struct use){is_number(t, DT_SCOPE_LOCAL, DT_I_INDEX(i)), 0, rd};
	case DT_OP_STLS: return (struct use){is_number(t, DT_SCOPE_LOCAL, DT_I_INDEX(i)), rd, 0};
	default: return other_use(i);
	}
}

/* Backward, since branches go forward. A DIFO of a file may read a register that it has not set, which
 * the verifier refuses if it is one of eBPF. */
bool dt_tr_in_registers(const dt_tr *t, const dt_difo *d)
{
	uint8_t live[LENGTH_MAX + 1] = {0}; /* registers that are read from here on */
	uint32_t branches = 0;

	if (d->len > LENGTH_MAX)
		return false;
	for (uint32_t pc = d->len; pc-- > 0;) {
		dt_instr i = d->text[pc];
		struct use u = use_of(t, i);
		uint32_t op = DT_I_OP(i), to = DT_I_LABEL(i), after = live[pc + 1];

		if (!u.plain || (u.reads | u.sets) >> DT_NELEM(homes))
			return false;
		if (is_branch(i) && (to <= pc || to >= d->len || ++branches > BRANCHES_MAX))
			return false;
		if (is_branch(i))
			after = live[to] | (op == DT_OP_BA ? 0 : after);
		live[pc] = (uint8_t)((op == DT_OP_RET ? 0 : after & ~u.sets) | u.reads);
	}
	return (live[0] & ~1u) == 0; /* register 0 is the constant 0 */
}

bool dt_tr_may_fault(const dt_tr *t, const dt_difo *d)
{
	for (uint32_t pc = 0; pc < d->len; pc++)
		if (DT_I_OP(d->text[pc]) >= DT_OP_SDIV && DT_I_OP(d->text[pc]) <= DT_OP_UREM)
			return true;
	return !dt_tr_in_registers(t, d);
}

/* ---- what is stored ---- */

/* For each instruction, and the end: registers that are read from there on before they are set. To be freed. Backward. */
uint16_t *dt_tr_live(const dt_tr *t, const dt_difo *d)
{
	uint16_t *live = dt_xcalloc(d->len + 1, sizeof(*live));

	for (uint32_t pc = d->len; pc-- > 0;) {
		dt_instr i = d->text[pc];
		struct use u = use_of(t, i);
		uint32_t op = DT_I_OP(i), to = DT_I_LABEL(i), after = op == DT_OP_RET ? 0 : live[pc + 1];

		if (is_branch(i))
			after = (to > pc && to <= d->len ? live[to] : UINT16_MAX) | (op == DT_OP_BA ? 0 : after);
		live[pc] = (uint16_t)((after & ~u.sets) | u.reads);
	}
	return live;
}

/* Is this instruction the last that reads the register, and does its code begin with that, and do it once? */
static bool is_last_read(const dt_tr *t, uint32_t reg)
{
	uint32_t r1 = DT_I_R1(t->instr), r2 = DT_I_R2(t->instr), rd = DT_I_RD(t->instr), after = t->live[t->pc + 1] & bit(reg);

	switch (DT_I_OP(t->instr)) {
	case DT_OP_OR ... DT_OP_ADD:
	case DT_OP_MUL:
	case DT_OP_SRA: return r1 != r2 && (!after || rd == reg);
	case DT_OP_NOT:
	case DT_OP_MOV:
	case DT_OP_LDSB ... DT_OP_LDX:
	case DT_OP_RLDSB ... DT_OP_RLDX:
	case DT_OP_ULDSB ... DT_OP_ULDX: return !after || rd == reg;
	case DT_OP_CMP: return r1 != r2 && !after;
	case DT_OP_TST:
	case DT_OP_PUSHTV: return !after;
	case DT_OP_RET: return true;
	default: return false;
	}
}

/* A function of D must not touch those of its caller. */
static int place(const dt_tr *t, uint32_t reg)
{
	return (t->function ? S_FUNCTION_REGS : S_REGS) + (int)reg * 8;
}

/* The instruction before this one has stored it. */
bool dt_tr_at_hand(const dt_tr *t, uint32_t reg)
{
	uint32_t n = t->c->insns.n;
	const struct bpf_insn *last = n ? &t->c->insns.v[n - 1] : NULL;

	return t->live && reg && t->now.reg[reg].kind != V_CONST && last && t->c->placed != n &&
	       last->code == (BPF_STX | BPF_MEM | BPF_DW) && last->dst_reg == R6 && last->off == place(t, reg);
}

void dt_tr_get(dt_tr *t, int to, uint32_t reg)
{
	const dt_tr_val *v = &t->now.reg[reg];
	int from;

	if (reg == 0) {
		movi(t->c, to, 0);
	} else if (v->kind == V_CONST) {
		movq(t->c, to, v->n);
	} else if (t->in_registers) {
		mov(t->c, to, homes[reg]);
	} else if (dt_tr_at_hand(t, reg)) {
		from = t->c->insns.v[t->c->insns.n - 1].src_reg;
		if (is_last_read(t, reg))
			t->c->insns.n--;
		if (to != from)
			mov(t->c, to, from);
	} else {
		ld(t->c, 8, to, R6, place(t, reg));
	}
}

void dt_tr_set(dt_tr *t, uint32_t reg, int from, dt_tr_val v)
{
	if (reg == 0)
		return;
	if (t->in_registers)
		mov(t->c, homes[reg], from);
	else
		st(t->c, 8, R6, place(t, reg), from);
	t->now.reg[reg] = v;
	t->now.not_stored &= ~bit(reg);
}

static void store_const(dt_tr *t, uint32_t reg, uint64_t n)
{
	if ((int64_t)n == (int32_t)n) {
		sti(t->c, 8, R6, place(t, reg), (int32_t)n);
	} else {
		movq(t->c, R3, n);
		st(t->c, 8, R6, place(t, reg), R3);
	}
}

void dt_tr_set_const(dt_tr *t, uint32_t reg, uint64_t n)
{
	if (reg == 0)
		return;
	if (t->in_registers)
		movq(t->c, homes[reg], n);
	else if (t->live)
		t->now.not_stored |= bit(reg);
	else
		store_const(t, reg, n);
	t->now.reg[reg] = (dt_tr_val){.kind = V_CONST, .n = n};
}

void dt_tr_before_label(dt_tr *t, uint32_t pc)
{
	for (uint32_t reg = 1; reg < DT_DIF_NREGS; reg++)
		if (t->now.not_stored & bit(reg) & t->live[pc]) {
			store_const(t, reg, t->now.reg[reg].n);
			t->now.not_stored &= ~bit(reg);
		}
}

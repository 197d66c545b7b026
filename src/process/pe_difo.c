/*
 * pe_difo: machine code for DIF that computes with numbers: arithmetic, comparisons, branches, arguments, the time, variables by
 * value. Registers 1 to 4 are registers of the CPU, the others words of the stack.
 *
 * Flags exist only from a comparison to the branches directly after it; a DIFO where another branch could see them is not known.
 */
#include <stdlib.h>

#include "process/compile.h"

/* ---- what is known ---- */

static bool is_branch(uint32_t op)
{
	return op >= DT_OP_BA && op <= DT_OP_BLEU;
}

/* Of a variable by value, or one that does not exist: its place among the values; UINT32_MAX: it has none. False: not known. */
static bool find_var(const dt_vm_scope *s, uint32_t id, uint32_t *at)
{
	uint32_t i = id - DT_VAR_USER_MIN;

	*at = UINT32_MAX;
	if (id < DT_VAR_USER_MIN || i >= s->n || s->v[i].array)
		return true;
	*at = i;
	return !s->v[i].byref;
}

static bool knows_builtin(const struct dt_pe_compiler *c, uint32_t id)
{
	switch (id) {
	case DT_VAR_ARG0 ... DT_VAR_ARG9: return c->args != DT_PE_ENTRY || id - DT_VAR_ARG0 < 6;
	case DT_VAR_TIMESTAMP:
	case DT_VAR_PID:
	case DT_VAR_TID:
	case DT_VAR_EPID:
	case DT_VAR_ID: return true;
	default: return false;
	}
}

static bool knows_variable(const struct dt_pe_compiler *c, uint32_t op, uint32_t id)
{
	const dt_vm *vm = &c->p->host->vm;
	uint32_t at;

	switch (op) {
	case DT_OP_LDGS:
		if (id < DT_VAR_USER_MIN)
			return knows_builtin(c, id);
		return find_var(&vm->globals, id, &at);
	case DT_OP_STGS: return id >= DT_VAR_USER_MIN && find_var(&vm->globals, id, &at);
	case DT_OP_LDLS:
	case DT_OP_STLS: return find_var(&vm->locals, id, &at);
	default: return find_var(&vm->threads, id, &at) && at != UINT32_MAX;
	}
}

/* Do the flags that this branch sees come from a comparison before it, whatever the way here? After tst only ==, != and the
 * unsigned ones: there DIF has no sign. */
static bool sees_flags(const dt_difo *d, uint32_t pc, const bool *target)
{
	uint32_t op = DT_I_OP(d->text[pc]), at = pc;

	if (op == DT_OP_BA)
		return true;
	while (at > 0 && !target[at] && is_branch(DT_I_OP(d->text[at - 1])))
		at--;
	if (at == 0 || target[at])
		return false;
	switch (DT_I_OP(d->text[at - 1])) {
	case DT_OP_CMP: return true;
	case DT_OP_TST: return op == DT_OP_BE || op == DT_OP_BNE || op == DT_OP_BGU || op == DT_OP_BGEU || op == DT_OP_BLU || op == DT_OP_BLEU;
	default: return false;
	}
}

static bool knows(const struct dt_pe_compiler *c, const dt_difo *d, uint32_t pc, const bool *target)
{
	dt_instr i = d->text[pc];
	uint32_t op = DT_I_OP(i);

	switch (op) {
	case DT_OP_OR ... DT_OP_MOV:
	case DT_OP_SRA:
	case DT_OP_CMP: return DT_I_R1(i) < DT_DIF_NREGS && DT_I_R2(i) < DT_DIF_NREGS && DT_I_RD(i) < DT_DIF_NREGS;
	case DT_OP_TST: return DT_I_R1(i) < DT_DIF_NREGS;
	case DT_OP_RET: return DT_I_RD(i) < DT_DIF_NREGS;
	case DT_OP_NOP: return true;
	case DT_OP_SETX: return DT_I_INDEX(i) < d->intlen && DT_I_RD(i) < DT_DIF_NREGS;
	case DT_OP_BA ... DT_OP_BLEU: return DT_I_LABEL(i) > pc && DT_I_LABEL(i) < d->len && sees_flags(d, pc, target);
	case DT_OP_LDGS:
	case DT_OP_STGS:
	case DT_OP_LDTS:
	case DT_OP_STTS:
	case DT_OP_LDLS:
	case DT_OP_STLS: return DT_I_RD(i) < DT_DIF_NREGS && knows_variable(c, op, DT_I_INDEX(i));
	default: return false;
	}
}

static bool *find_targets(const dt_difo *d)
{
	bool *target = dt_xcalloc(d->len + 1ull, sizeof(*target));

	for (uint32_t i = 0; i < d->len; i++)
		if (is_branch(DT_I_OP(d->text[i])) && DT_I_LABEL(d->text[i]) < d->len)
			target[DT_I_LABEL(d->text[i])] = true;
	return target;
}

/* Registers that an instruction reads and writes, as bits. */
static uint32_t reads(dt_instr i)
{
	switch (DT_I_OP(i)) {
	case DT_OP_NOT:
	case DT_OP_MOV:
	case DT_OP_TST: return 1u << DT_I_R1(i);
	case DT_OP_OR ... DT_OP_UREM:
	case DT_OP_SRA:
	case DT_OP_CMP: return 1u << DT_I_R1(i) | 1u << DT_I_R2(i);
	case DT_OP_RET:
	case DT_OP_STGS:
	case DT_OP_STTS:
	case DT_OP_STLS: return 1u << DT_I_RD(i);
	default: return 0;
	}
}

static uint32_t writes(dt_instr i)
{
	switch (DT_I_OP(i)) {
	case DT_OP_OR ... DT_OP_MOV:
	case DT_OP_SRA:
	case DT_OP_SETX:
	case DT_OP_LDGS:
	case DT_OP_LDTS:
	case DT_OP_LDLS: return 1u << DT_I_RD(i);
	default: return 0;
	}
}

bool dt_pe_difo_known(const struct dt_pe_compiler *c, const dt_difo *d, uint32_t *kept)
{
	bool *target = find_targets(d), all = true;
	uint32_t used = 0;

	for (uint32_t pc = 0; pc < d->len && all; pc++) {
		all = knows(c, d, pc, target);
		if (all)
			used |= reads(d->text[pc]) | writes(d->text[pc]);
	}
	for (uint32_t r = 1; r <= DT_N_KEPT; r++)
		if (used >> r & 1 && *kept < r)
			*kept = r;
	free(target);
	return all;
}

/* ---- code ---- */

static uint32_t place(uint32_t reg)
{
	return reg <= DT_N_KEPT ? DT_N_KEEP + reg - 1 : DT_N_STACK + reg - DT_N_KEPT - 1;
}

/* Register 0 is 0, and forgets what it gets. */
static uint32_t source(struct dt_pe_compiler *c, uint32_t reg)
{
	if (reg)
		return place(reg);
	c->op->constant(&c->n, DT_N_A2, 0);
	return DT_N_A2;
}

static uint32_t destination(uint32_t reg)
{
	return reg ? place(reg) : DT_N_A1;
}

static void divide(struct dt_pe_compiler *c, uint32_t pc, enum dt_ndiv op, uint32_t to, uint32_t a, uint32_t b)
{
	uint32_t label = dt_native_label(&c->n);

	*dt_vec_add(&c->faults, NULL) = (struct dt_pe_fault){label, DT_FLT_DIVZERO, c->action, (int32_t)(pc * sizeof(dt_instr))};
	c->op->constant(&c->n, DT_N_A0, 0);
	c->op->compare(&c->n, b, DT_N_A0);
	c->op->branch(&c->n, DT_N_EQ, label);
	c->op->divide(&c->n, op, to, a, b);
}

static void arithmetic(struct dt_pe_compiler *c, uint32_t pc, dt_instr i)
{
	static const uint8_t ops[] = {[DT_OP_OR] = DT_N_OR, [DT_OP_XOR] = DT_N_XOR, [DT_OP_AND] = DT_N_AND, [DT_OP_SLL] = DT_N_SHL,
				      [DT_OP_SRL] = DT_N_SHR, [DT_OP_SUB] = DT_N_SUB, [DT_OP_ADD] = DT_N_ADD, [DT_OP_MUL] = DT_N_MUL,
				      [DT_OP_SRA] = DT_N_SAR};
	static const uint8_t divs[] = {[DT_OP_SDIV] = DT_N_SDIV, [DT_OP_UDIV] = DT_N_UDIV, [DT_OP_SREM] = DT_N_SREM, [DT_OP_UREM] = DT_N_UREM};
	uint32_t op = DT_I_OP(i), to = destination(DT_I_RD(i)), a = source(c, DT_I_R1(i));

	switch (op) {
	case DT_OP_MOV: c->op->move(&c->n, to, a); break;
	case DT_OP_NOT:
		c->op->constant(&c->n, DT_N_A0, UINT64_MAX);
		c->op->compute(&c->n, DT_N_XOR, to, a, DT_N_A0);
		break;
	case DT_OP_SDIV ... DT_OP_UREM: divide(c, pc, divs[op], to, a, source(c, DT_I_R2(i))); break;
	default: c->op->compute(&c->n, ops[op], to, a, source(c, DT_I_R2(i))); break;
	}
}

static void argument(struct dt_pe_compiler *c, uint32_t to, uint32_t i)
{
	const struct dt_pe_shared *sh = c->p->shared;
	uint32_t word = c->args == DT_PE_RETURN ? sh->result : i < 6 ? sh->arg[i] : 0;

	if (c->args == DT_PE_COMPUTED) {
		c->reads_args = true;
		c->op->load(&c->n, to, DT_N_BASE, (uint32_t)(offsetof(struct dt_pe_slot, e.firing[0].args) + i * 8), 8);
	} else if (c->args == DT_PE_RETURN && i == 0) {
		c->op->load(&c->n, DT_N_A0, DT_N_BASE, offsetof(struct dt_pe_slot, site), 8);
		c->op->load(&c->n, to, DT_N_A0, offsetof(struct dt_pe_site, number), 8);
	} else if (c->args == DT_PE_RETURN && i > 1) {
		c->op->constant(&c->n, to, 0);
	} else {
		c->op->load(&c->n, to, DT_N_FRAME, (uint32_t)(offsetof(struct dt_pe_frame, word) + (word - 1) * 8), 8);
	}
}

static void builtin(struct dt_pe_compiler *c, uint32_t to, uint32_t id)
{
	switch (id) {
	case DT_VAR_ARG0 ... DT_VAR_ARG9: argument(c, to, id - DT_VAR_ARG0); break;
	case DT_VAR_PID: c->op->constant(&c->n, to, (uint64_t)c->p->target.pid); break;
	case DT_VAR_TID: c->op->load(&c->n, to, DT_N_BASE, offsetof(struct dt_pe_slot, tid), 4); break;
	case DT_VAR_EPID:
	case DT_VAR_ID:
		c->op->load(&c->n, DT_N_A0, DT_PE_ECB, offsetof(struct dt_vm_ecb, ecb), 8);
		if (id == DT_VAR_ID)
			c->op->load(&c->n, DT_N_A0, DT_N_A0, offsetof(dt_ecb, probe), 8);
		c->op->load(&c->n, to, DT_N_A0, id == DT_VAR_ID ? offsetof(dt_probe, id) : offsetof(dt_ecb, epid), 4);
		break;
	default: /* timestamp */
		dt_pe_call(c, H_dt_rt_n_timestamp);
		c->op->move(&c->n, to, DT_N_T0);
		break;
	}
}

static void variable(struct dt_pe_compiler *c, dt_instr i)
{
	const dt_vm *vm = &c->p->host->vm;
	uint32_t op = DT_I_OP(i), id = DT_I_INDEX(i), reg = DT_I_RD(i), at, base = DT_N_A0;
	bool loads = op == DT_OP_LDGS || op == DT_OP_LDTS || op == DT_OP_LDLS;

	if (op == DT_OP_LDGS && id < DT_VAR_USER_MIN) {
		builtin(c, destination(reg), id);
		return;
	}
	find_var(op == DT_OP_LDGS || op == DT_OP_STGS ? &vm->globals : op == DT_OP_LDLS || op == DT_OP_STLS ? &vm->locals : &vm->threads, id, &at);
	if (at == UINT32_MAX) {
		if (loads)
			c->op->constant(&c->n, destination(reg), 0);
		return;
	}
	if (op == DT_OP_LDGS || op == DT_OP_STGS)
		c->op->constant(&c->n, base, dt_vm_addr(vm->globals.values));
	else
		c->op->load(&c->n, base, DT_N_BASE,
			    op == DT_OP_LDLS || op == DT_OP_STLS ? offsetof(struct dt_pe_slot, e.vm.locals.values)
								 : offsetof(struct dt_pe_slot, e.vm.own.direct),
			    8);
	if (loads)
		c->op->load(&c->n, destination(reg), base, at * 8, 8);
	else
		c->op->store(&c->n, base, at * 8, source(c, reg), 8);
}

static void step(struct dt_pe_compiler *c, const dt_difo *d, uint32_t pc, const uint32_t *label, uint32_t end)
{
	static const uint8_t conds[] = {[DT_OP_BA] = DT_N_ALWAYS, [DT_OP_BE] = DT_N_EQ, [DT_OP_BNE] = DT_N_NE, [DT_OP_BG] = DT_N_GT,
					[DT_OP_BGU] = DT_N_GTU, [DT_OP_BGE] = DT_N_GE, [DT_OP_BGEU] = DT_N_GEU, [DT_OP_BL] = DT_N_LT,
					[DT_OP_BLU] = DT_N_LTU, [DT_OP_BLE] = DT_N_LE, [DT_OP_BLEU] = DT_N_LEU};
	dt_instr i = d->text[pc];
	uint32_t op = DT_I_OP(i), a;

	switch (op) {
	case DT_OP_OR ... DT_OP_MOV:
	case DT_OP_SRA: arithmetic(c, pc, i); break;
	case DT_OP_CMP:
		a = source(c, DT_I_R1(i));
		c->op->compare(&c->n, a, source(c, DT_I_R2(i)));
		break;
	case DT_OP_TST:
		c->op->constant(&c->n, DT_N_A0, 0);
		c->op->compare(&c->n, source(c, DT_I_R1(i)), DT_N_A0);
		break;
	case DT_OP_BA ... DT_OP_BLEU: c->op->branch(&c->n, conds[op], label[DT_I_LABEL(i)]); break;
	case DT_OP_RET:
		c->op->move(&c->n, DT_N_T0, source(c, DT_I_RD(i)));
		if (pc + 1 < d->len)
			c->op->branch(&c->n, DT_N_ALWAYS, end);
		break;
	case DT_OP_SETX: c->op->constant(&c->n, destination(DT_I_RD(i)), d->inttab[DT_I_INDEX(i)]); break;
	case DT_OP_NOP: break;
	default: variable(c, i); break;
	}
}

/* Registers are 0 at first: those that may be read before they have been written. */
static void clear(struct dt_pe_compiler *c, const dt_difo *d)
{
	uint32_t written = 1, need = 0;
	bool straight = true;

	for (uint32_t pc = 0; pc < d->len; pc++) {
		need |= reads(d->text[pc]) & ~written;
		straight = straight && !is_branch(DT_I_OP(d->text[pc]));
		if (straight)
			written |= writes(d->text[pc]);
	}
	for (uint32_t r = 1; r < DT_DIF_NREGS; r++)
		if (need >> r & 1)
			c->op->constant(&c->n, place(r), 0);
}

void dt_pe_difo(struct dt_pe_compiler *c, const dt_difo *d)
{
	uint32_t end = dt_native_label(&c->n), *label;
	bool *target;

	if (!d || d->len == 0) {
		c->op->constant(&c->n, DT_N_T0, 0);
		c->op->set(&c->n, end);
		return;
	}
	target = find_targets(d);
	label = dt_xcalloc(d->len, sizeof(*label));
	for (uint32_t pc = 0; pc < d->len; pc++)
		if (target[pc])
			label[pc] = dt_native_label(&c->n);
	clear(c, d);
	for (uint32_t pc = 0; pc < d->len; pc++) {
		if (target[pc])
			c->op->set(&c->n, label[pc]);
		step(c, d, pc, label, end);
	}
	if (DT_I_OP(d->text[d->len - 1]) != DT_OP_RET) /* past the end */
		c->op->constant(&c->n, DT_N_T0, 0);
	c->op->set(&c->n, end);
	free(target);
	free(label);
}

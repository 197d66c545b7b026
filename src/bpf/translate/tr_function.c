/*
 * tr_function: functions of D that are compiled once: DIFOs that other DIFOs call.
 *
 * Such a DIFO becomes one function of the program, f(slot, ctx), however often it is called. r0 is its
 * value; slot->fault says that there is none. Parameters are clause-local variables, which the caller
 * has set. It has DIF registers of its own; the tuple and the flags are not needed any more when it is
 * called. A fault has the place of the call, which the caller has stored.
 *
 * Clauses of ERROR have other arguments than those of the probe, so they call copies of their own.
 *
 * The kernel allows only eight frames, of which some subroutines need most. If the calls of a program are
 * too deep, it is made again without functions: their code is repeated.
 */
#include "bpf/translate/translate.h"

/* May its code need the context of the probe? If its callers pass that on, they need it too. */
static bool may_use_context(const dt_difo *d)
{
	for (uint32_t i = 0; i < d->nvars; i++)
		if (d->vars[i].id < DT_VAR_USER_MIN)
			return true;
	for (uint32_t pc = 0; pc < d->len; pc++)
		if (DT_I_OP(d->text[pc]) == DT_OP_CALL)
			return true;
	return false;
}

static struct dt_tr_function request(dt_tr *t, const dt_difo *d)
{
	struct dt_tr_function *f;

	for (uint32_t i = 0; i < t->functions.n; i++)
		if (t->functions.v[i].difo == d && t->functions.v[i].kind == t->kind)
			return t->functions.v[i];
	f = dt_vec_add(&t->functions, NULL);
	*f = (struct dt_tr_function){d, t->kind, dt_code_func_new(t->c, "function"), may_use_context(d)};
	return *f;
}

/*
 *	r0 = function(slot, ctx)
 *	if (slot->fault) goto fault_exit
 */
static void call(dt_tr *t, const dt_difo *d)
{
	struct dt_tr_function f = request(t, d);
	dt_code *c = t->c;

	mov(c, R1, R6);
	if (f.has_context)
		mov(c, R2, R7);
	dt_code_call(c, f.func);
	ld(c, 4, R1, R6, S_FAULT);
	jmpi(c, BPF_JNE, R1, 0, t->fault_exit);
	dt_tr_can_fault(t);
}

/* r0 = its value, without a call */
static void repeat(dt_tr *t, const dt_difo *d)
{
	dt_tr_state outer = t->now;
	uint32_t loff = t->loff, pc = t->pc;
	dt_instr instr = t->instr;
	dt_tr_val v;

	t->function = true;
	dt_tr_difo(t, d, &v);
	t->function = false;
	t->now = outer;
	t->loff = loff;
	t->pc = pc;
	t->instr = instr;
}

void dt_tr_function(dt_tr *t, const dt_difo *d, uint32_t n, uint32_t rd)
{
	bool is_string;

	if (n >= d->nfunctions || t->function) {
		dt_tr_fail(t, "at DIF offset %u: a function that cannot be called", t->loff);
		return;
	}
	is_string = d->functions[n]->rtype.kind == DT_TYPE_STRING;
	dt_tr_here(t);
	(t->repeats ? repeat : call)(t, d->functions[n]);
	if (!t->reachable)
		return;
	dt_tr_set(t, rd, R0, is_string ? (dt_tr_val){.kind = V_STRING} : NUMBER);
	t->now.ntuple = 0;
	t->now.tuple_lost = false;
}

/* ---- the functions ---- */

/* Does the function use r7, which it sets at *set? */
static bool uses_context(const dt_code *c, uint32_t start, uint32_t *set)
{
	*set = UINT32_MAX;
	for (uint32_t i = start; i < c->insns.n; i++) {
		const struct bpf_insn *x = &c->insns.v[i];

		if (*set == UINT32_MAX && x->dst_reg == R7 && x->src_reg == R2)
			*set = i;
		else if (x->dst_reg == R7 || x->src_reg == R7)
			return true;
	}
	return *set == UINT32_MAX;
}

void dt_tr_verify_alone(dt_code *c, uint32_t func, uint32_t start)
{
	uint32_t set;

	if (uses_context(c, start, &set))
		c->funcs.v[func].nargs = 0;
	else
		c->insns.v[set] = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = R7};
}

static void emit(dt_tr *t, const struct dt_tr_function *f)
{
	dt_code *c = t->c;
	uint32_t start = c->insns.n;
	dt_tr_val v;

	t->kind = f->kind;
	dt_code_func_begin_global(c, f->func, 1);
	dt_tr_begin_faults(t);
	mov(c, R6, R1);
	mov(c, R7, R2);
	dt_tr_difo(t, f->difo, &v);
	if (t->reachable)
		leave(c);
	dt_tr_fault_paths(t);
	if (t->faults) {
		dt_code_place(c, t->fault_exit);
		movi(c, R0, 0);
		leave(c);
	}
	dt_tr_verify_alone(c, f->func, start);
}

void dt_tr_functions(dt_tr *t)
{
	enum dt_probe_kind kind = t->kind;

	t->function = true;
	for (uint32_t i = 0; i < t->functions.n && !t->failed; i++)
		emit(t, &t->functions.v[i]);
	t->function = false;
	t->kind = kind;
}

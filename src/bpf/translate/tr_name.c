/*
 * tr_name: data about a probe by its index: the parts of its name, its id, where its function
 * returns, the EPIDs of its clauses. These are tables in read-only data (plan/layout.c), or maps if
 * probes can be added during tracing (run/names.c).
 */
#include "bpf/translate/translate.h"

/* r1 = u32 at `off` in the row of the probe */
static void row_field(dt_tr *t, uint32_t off)
{
	dt_code *c = t->c;
	uint32_t ok = dt_code_label(c), no = dt_code_label(c);

	dt_tr_needs(t, names);
	if (t->plan->grows) {
		ld(c, 4, R1, R6, S_PROBE);
		st(c, 4, R10, -4, R1);
		map(c, R1, t->maps->names);
		mov(c, R2, R10);
		alui(c, BPF_ADD, R2, -4);
		helper(c, BPF_FUNC_map_lookup_elem);
		movi(c, R1, 0);
		jmpi(c, BPF_JEQ, R0, 0, no);
		ld(c, 4, R1, R0, (int)off);
		dt_code_place(c, no);
		return;
	}
	ld(c, 4, R1, R6, S_PROBE);
	jmpi(c, BPF_JLT, R1, (int32_t)t->plan->probes.n, ok);
	movi(c, R1, 0);
	dt_code_place(c, ok);
	alui(c, BPF_LSH, R1, NAME_ROW_SHIFT);
	map_value(c, R2, t->maps->rodata, t->at->names + off);
	alu(c, BPF_ADD, R2, R1);
	ld(c, 4, R1, R2, 0);
}

void dt_tr_name(dt_tr *t, uint32_t part)
{
	row_field(t, part * 4);
	if (t->plan->grows) {
		alui(t->c, BPF_AND, R1, NAME_TEXT_SIZE - 1);
		map_value(t->c, R0, t->maps->text, 0);
	} else {
		alui(t->c, BPF_AND, R1, 0xfffffff); /* far below what may be added to a pointer */
		map_value(t->c, R0, t->maps->rodata, 0);
	}
	alu(t->c, BPF_ADD, R0, R1);
}

void dt_tr_probe_id(dt_tr *t)
{
	row_field(t, NAME_ROW_ID);
	mov(t->c, R0, R1);
}

void dt_tr_probe_return(dt_tr *t)
{
	dt_tr_needs(t, returns);
	row_field(t, NAME_ROW_RETURN);
	mov(t->c, R0, R1);
}

void dt_tr_epid(dt_tr *t, bool faulting)
{
	dt_code *c = t->c;
	uint32_t no = dt_code_label(c);

	if (!faulting)
		dt_tr_needs(t, epid);
	if (faulting)
		ld(c, 4, R1, R6, S_CLAUSE);
	else
		dt_tr_clause_number(t, R1);
	if (t->plan->grows) {
		alui(c, BPF_LSH, R1, 32);
		ld(c, 4, R2, R6, S_PROBE);
		alu(c, BPF_OR, R1, R2);
		st(c, 8, R10, -8, R1);
		map(c, R1, t->maps->epids);
		mov(c, R2, R10);
		alui(c, BPF_ADD, R2, -8);
		helper(c, BPF_FUNC_map_lookup_elem);
		jmpi(c, BPF_JEQ, R0, 0, no);
		ld(c, 4, R0, R0, 0);
		dt_code_place(c, no);
		return;
	}
	alui(c, BPF_MUL, R1, (int32_t)t->plan->probes.n);
	ld(c, 4, R2, R6, S_PROBE);
	alu(c, BPF_ADD, R1, R2);
	movi(c, R0, 0);
	jmpi(c, BPF_JGE, R1, (int32_t)(t->plan->clauses.n * t->plan->probes.n), no);
	alui(c, BPF_LSH, R1, 2);
	map_value(c, R2, t->maps->rodata, t->at->epids);
	alu(c, BPF_ADD, R2, R1);
	ld(c, 4, R0, R2, 0);
	dt_code_place(c, no);
}

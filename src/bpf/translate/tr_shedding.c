/*
 * tr_shedding: option overhead. After its predicate a clause that may be left out (plan/plan_shedding.c) asks the tracer's
 * budget (run/overhead.c) whether it is to run; if not, that is counted, so that nothing is lost silently:
 *
 *	printing	if (control->quiet) { shed[PRINTING]++; return; }
 *	sampled		n = control->sample;
 *			if (n > 1 && random() % n) { shed[SAMPLED]++; return; }
 *			slot->scale = n;	what it aggregates counts n times (tr_agg.c)
 *
 * The choice is random: a counter would let the clauses of one probe take turns.
 */
#include "bpf/translate/translate.h"

static void printing(dt_tr *t, uint32_t done)
{
	dt_code *c = t->c;
	uint32_t go = dt_code_label(c);

	map_value(c, R1, t->maps->control, CTL_QUIET);
	ld(c, 8, R1, R1, 0);
	jmpi(c, BPF_JEQ, R1, 0, go);
	dt_tr_count(t, CPU_SHED_PRINTING);
	ja(c, done);
	dt_code_place(c, go);
}

static void sampled(dt_tr *t, uint32_t done)
{
	dt_code *c = t->c;
	uint32_t go = dt_code_label(c), all = dt_code_label(c);

	map_value(c, R1, t->maps->control, CTL_SAMPLE);
	ld(c, 8, R8, R1, 0);
	jmpi(c, BPF_JLE, R8, 1, all);
	helper(c, BPF_FUNC_get_prandom_u32);
	mov(c, R1, R8); /* a power of two */
	alui(c, BPF_SUB, R1, 1);
	alu(c, BPF_AND, R0, R1);
	st(c, 4, R6, S_SCALE, R8);
	jmpi(c, BPF_JEQ, R0, 0, go);
	dt_tr_count(t, CPU_SHED_SAMPLED);
	ja(c, done);
	dt_code_place(c, all);
	sti(c, 4, R6, S_SCALE, 1);
	dt_code_place(c, go);
}

void dt_tr_shed(dt_tr *t, const struct dt_plan_clause *x, uint32_t done)
{
	switch (x->shed) {
	case DT_SHED_PRINTING: printing(t, done); break;
	case DT_SHED_SAMPLED: sampled(t, done); break;
	case DT_SHED_NEVER:
		if (t->plan->budget && x->record.aggregates)
			sti(t->c, 4, R6, S_SCALE, 1);
	}
}

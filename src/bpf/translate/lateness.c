/*
 * lateness: arg2 of profile and tick, the nanoseconds by which a firing is late.
 *
 * The kernel's timer follows a grid: start + n * period, however late each firing is. The kernel
 * does not expose the start, so it is inferred: the first firing is assumed to be on time, and one
 * that comes before the next is due shows that the grid starts earlier than assumed. Each CPU keeps
 * for each event when the last firing was due (the clock is that of the timer, so they do not drift
 * apart).
 *
 * A script that does not use arg2 has none of this code.
 */
#include "bpf/translate/translate.h"

/* r0 = lateness:
 *
 *	row = lookup(clock, first row of the program + cookie); now = timestamp
 *	if (row->last != now) {			// not asked before in this firing
 *		row->last = now
 *		row->due = row->due && now >= row->due + row->period ? now - (now - row->due) % row->period : now
 *	}
 *	r0 = now - row->due
 */
void dt_tr_lateness(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t none = dt_code_label(c), on_time = dt_code_label(c), known = dt_code_label(c),
		 store = dt_code_label(c);

	dt_tr_needs(t, late);
	dt_tr_time(t);
	mov(c, R1, R7);
	helper(c, BPF_FUNC_get_attach_cookie);
	alui(c, BPF_ADD, R0, (int32_t)(t->prog * t->plan->nevents[PK_PROFILE]));
	st(c, 4, R6, S_TMP, R0);
	map(c, R1, t->maps->clock);
	dt_slot_lea(c, R2, S_TMP);
	helper(c, BPF_FUNC_map_lookup_elem);
	jmpi(c, BPF_JEQ, R0, 0, none);
	ld(c, 8, R1, R6, S_TIME);
	ld(c, 8, R2, R0, CLOCK_LAST);
	jmp(c, BPF_JEQ, R1, R2, known);
	st(c, 8, R0, CLOCK_LAST, R1);
	ld(c, 8, R2, R0, CLOCK_DUE);
	jmpi(c, BPF_JEQ, R2, 0, on_time);
	ld(c, 8, R3, R0, CLOCK_PERIOD);
	mov(c, R4, R1);
	alu(c, BPF_SUB, R4, R2);
	jmp(c, BPF_JLT, R4, R3, on_time);
	alu(c, BPF_MOD, R4, R3);
	mov(c, R2, R1);
	alu(c, BPF_SUB, R2, R4);
	ja(c, store);
	dt_code_place(c, on_time);
	mov(c, R2, R1);
	dt_code_place(c, store);
	st(c, 8, R0, CLOCK_DUE, R2);
	dt_code_place(c, known);
	ld(c, 8, R2, R0, CLOCK_DUE);
	mov(c, R0, R1);
	alu(c, BPF_SUB, R0, R2);
	dt_code_place(c, none); /* r0 is 0 there */
}

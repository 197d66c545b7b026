/*
 * tr_prologue: what a stable probe computes before its clauses run (dt_prologue of engine.h).
 *
 * The condition and the arguments of such a probe are DIF about the event, which the session has compiled
 * (session/events.c). They become a function prologue(slot, ctx), which returns whether the probe
 * fires and leaves its arguments in the slot for all clauses:
 *
 *	if (!when) return 0
 *	slot->pargs[n] = arg n		for each n that some clause of the program uses
 *	return 1
 *
 * Data of an argument in scratch memory (a string) stays there until the last clause has run. An
 * argument that faults is 0, a condition that faults is false. Probes whose DIF is the same share
 * the function; which one a probe has is a table in rodata, and the program finds it by a tree of
 * comparisons, so that each function is called from one place and verified once.
 */
#include <stddef.h>
#include <stdio.h>

#include "bpf/translate/translate.h"

uint32_t *dt_tr_prologue_declare(dt_tr *t)
{
	uint32_t *fn = dt_arena_alloc(t->plan->arena, (t->plan->prologues.n + 1) * sizeof(*fn));
	char name[32];

	for (uint32_t i = 0; i < t->plan->probes.n; i++) {
		uint32_t n = t->plan->probes.v[i].prologue;

		if (!n || fn[n - 1] || !dt_plan_serves(t->plan, dt_tr_prog(t), i))
			continue;
		snprintf(name, sizeof(name), "prologue_%u", n - 1);
		fn[n - 1] = dt_code_func_new(t->c, name);
	}
	return fn;
}

static void call_one(dt_tr *t, uint32_t func, uint32_t no)
{
	mov(t->c, R1, R6);
	mov(t->c, R2, R7);
	dt_code_call(t->c, func);
	jmpi(t->c, BPF_JEQ, R0, 0, no);
}

/* Call the one of which[lo..hi) whose number is in r1. */
static void choose(dt_tr *t, const uint32_t *which, uint32_t lo, uint32_t hi, const uint32_t *fn,
		   uint32_t done, uint32_t no)
{
	uint32_t mid = lo + (hi - lo) / 2, upper;

	if (hi - lo == 1) {
		call_one(t, fn[which[lo]], no);
		ja(t->c, done);
		return;
	}
	upper = dt_code_label(t->c);
	jmpi(t->c, BPF_JGE, R1, (int32_t)which[mid], upper);
	choose(t, which, lo, mid, fn, done, no);
	dt_code_place(t->c, upper);
	choose(t, which, mid, hi, fn, done, no);
}

void dt_tr_prologue_call(dt_tr *t, const uint32_t *fn, uint32_t no)
{
	dt_code *c = t->c;
	uint32_t *which =
		     dt_arena_alloc(t->plan->arena, (t->plan->prologues.n + 1) * sizeof(*which)),
		 n = 0;
	uint32_t done = dt_code_label(c);

	for (uint32_t i = 0; i < t->plan->prologues.n; i++)
		if (fn[i])
			which[n++] = i;
	if (n == 1) {
		call_one(t, fn[which[0]], no);
		return;
	}
	if (dt_kind_is_user(t->prog_kind)) {
		ld(c, 4, R1, R8, (int)offsetof(struct dt_user_row, prologue));
	} else {
		ld(c, 4, R1, R6, S_PROBE);
		jmpi(c, BPF_JGE, R1, (int32_t)t->plan->probes.n, no);
		alui(c, BPF_LSH, R1, 2);
		map_value(c, R2, t->maps->rodata, dt_tr_prog_at(t)->prologue_of);
		alu(c, BPF_ADD, R2, R1);
		ld(c, 4, R1, R2, 0);
	}
	choose(t, which, 0, n, fn, done, no);
	dt_code_place(c, done);
}

/* ---- the functions ---- */

/* ldgs argN, %r1; ret %r1: no need for DIF's registers. */
static int plain_arg(const dt_difo *d)
{
	uint32_t id;

	if (d->len != 2 || DT_I_OP(d->text[0]) != DT_OP_LDGS || DT_I_OP(d->text[1]) != DT_OP_RET ||
	    DT_I_RD(d->text[0]) != DT_I_RD(d->text[1]))
		return -1;
	id = DT_I_INDEX(d->text[0]);
	return id >= DT_VAR_ARG0 && id <= DT_VAR_ARG9 ? (int)(id - DT_VAR_ARG0) : -1;
}

/* r0 = the value of d; 0 when it faults */
static void evaluate(dt_tr *t, const dt_difo *d)
{
	dt_code *c = t->c;
	uint32_t done = dt_code_label(c);
	dt_tr_val v;

	if (plain_arg(d) >= 0) {
		dt_tr_event_arg(t, (uint32_t)plain_arg(d));
		return;
	}
	for (size_t i = 0; i < DT_NELEM(t->fault); i++)
		t->fault[i] = UINT32_MAX;
	t->fault_exit = dt_code_label(c);
	t->faults = false;
	dt_tr_difo(t, d, &v);
	if (!t->faults)
		return;
	if (t->reachable)
		ja(c, done);
	dt_tr_fault_paths(t);
	dt_code_place(c, t->fault_exit);
	sti(c, 4, R6, S_FAULT, 0);
	movi(c, R0, 0);
	if (t->reachable)
		dt_code_place(c, done);
}

static void function(dt_tr *t, uint32_t func, const dt_prologue *p, uint32_t used)
{
	dt_code *c = t->c;
	uint32_t no = dt_code_label(c);

	dt_code_func_begin(c, func);
	mov(c, R6, R1);
	mov(c, R7, R2);
	dt_tr_reads(t, used);
	if (!t->need->is.memory)
		sti(c, 8, R6, S_USED, 0);
	if (t->need->reads.faults)
		sti(c, 4, R6, S_FAULT, 0);
	if (t->need->is.element)
		sti(c, 4, R6, S_ARRAY, 0);
	if (p->when) {
		evaluate(t, p->when);
		jmpi(c, BPF_JEQ, R0, 0, no);
	}
	for (uint32_t i = 0; i < DT_ATTACH_ARGS && !t->failed; i++) {
		if (!(used & 1u << i))
			continue;
		if (p->own)
			dt_tr_event_arg(t, i);
		else if (p->arg[i])
			evaluate(t, p->arg[i]);
		else
			movi(c, R0, 0);
		st(c, 8, R6, S_PARGS + (int)i * 8, R0);
	}
	ld(c, 8, R1, R6, S_USED);
	st(c, 8, R6, S_PUSED, R1);
	movi(c, R0, 1);
	leave(c);
	if (p->when) {
		dt_code_place(c, no);
		movi(c, R0, 0);
		leave(c);
	}
}

void dt_tr_prologue_functions(dt_tr *t, const uint32_t *fn)
{
	uint32_t used = t->learn ? UINT32_MAX : t->need->used[dt_tr_prog(t)->whole];

	t->in_slot = false; /* here arguments are the event's own */
	for (uint32_t i = 0; i < t->plan->prologues.n && !t->failed; i++)
		if (fn[i])
			function(t, fn[i], &t->plan->prologues.v[i], used);
	t->in_slot = true;
}

/*
 * tr_slot: claims and releases the slot of a firing.
 *
 * A slot is claimed by compare-and-exchange of 0 by 1 in the CPU's row of the cpus map, which this
 * process has mapped: if the word is 0, no firing uses the slot. A slot is claimed before the
 * control word is read, so after changing that word it is enough to wait until every slot has been
 * seen free once (dt_ring_quiesce).
 *
 * How many slots a CPU has depends on their size (layout.c), 4 to 32. Interrupts need three; the
 * rest is for tasks: since Linux 6.13 a task can be preempted in the middle of a system call probe,
 * and keeps its slot until it runs again. If none is free, the firing is counted as a drop.
 */
#include "arch/arch.h"
#include "bpf/translate/translate.h"

static int slot_bits(const dt_tr *t)
{
	int n = 0;

	while (1u << n < t->at->nslots)
		n++;
	return n;
}

/* reg = a number unique to this firing on the CPU: the address of its context, relative to the
 * CPU's row (r9). The difference of two pointers is a number for the verifier; it is neither 0 nor
 * 1. */
void dt_tr_firing_word(dt_tr *t, int reg)
{
	dt_code *c = t->c;

	if (dt_kind_is_tracer(
		t->prog_kind)) { /* their context differs each time, but there is only one firing */
		movi(c, reg, 2);
		return;
	}
	mov(c, reg, R7);
	alu(c, BPF_SUB, reg, R9);
}

/* Where `claim' keeps its words: numbers of the first slot of the CPU, what a free slot has, and the slot found, plus 1. */
enum { CLAIM_FIRST = -24, CLAIM_FREE = -16, CLAIM_FOUND = -8, CLAIM_WORDS = 24 };

/* try(i, words): claims slot i + 1 of the CPU; 1: that is the end of the search */
static void try_function(dt_tr *t, uint32_t func)
{
	uint32_t next = dt_code_label(t->c), stop = dt_code_label(t->c);
	dt_code *c = t->c;

	dt_code_func_begin(c, func);
	mov(c, R7, R1);
	mov(c, R6, R2);
	jmpi(c, BPF_JGE, R7, (int32_t)t->at->nslots - 1, stop); /* it is not, but the verifier must know */
	alui(c, BPF_ADD, R7, 1);
	ld(c, 8, R8, R6, CLAIM_WORDS + CLAIM_FIRST);
	mov(c, R2, R8);
	alui(c, BPF_RSH, R2, slot_bits(t));
	dt_tr_row(t, t->maps->cpus, R2, t->plan->ncpus, CPU_SIZE, stop);
	mov(c, R9, R0);
	alu(c, BPF_ADD, R8, R7);
	alui(c, BPF_LSH, R7, 3);
	alu(c, BPF_ADD, R9, R7);
	ld(c, 8, R3, R6, CLAIM_WORDS + CLAIM_FREE);
	mov(c, R0, R3);
	movi(c, R1, 1);
	atomic(c, BPF_CMPXCHG, R9, CPU_BUSY, R1);
	jmp(c, BPF_JNE, R0, R3, next);
	alui(c, BPF_ADD, R8, 1);
	st(c, 8, R6, CLAIM_WORDS + CLAIM_FOUND, R8);
	dt_code_place(c, stop);
	movi(c, R0, 1);
	leave(c);
	dt_code_place(c, next);
	movi(c, R0, 0);
	leave(c);
}

/* claim(number of the first slot, what a free one has): the number of another one of this CPU, plus 1; 0: a drop */
static void claim_function(dt_tr *t)
{
	uint32_t try = dt_code_func_new(t->c, "try"), out = dt_code_label(t->c);
	dt_code *c = t->c;

	dt_code_func_begin(c, t->func.claim);
	c->funcs.v[t->func.claim].nargs = 2;
	c->funcs.v[t->func.claim].numbers = true;
	st(c, 8, R10, CLAIM_FIRST, R1);
	st(c, 8, R10, CLAIM_FREE, R2);
	sti(c, 8, R10, CLAIM_FOUND, 0);
	movi(c, R1, (int32_t)t->at->nslots - 1);
	dt_code_func_addr(c, R2, try);
	mov(c, R3, R10);
	alui(c, BPF_ADD, R3, -CLAIM_WORDS);
	movi(c, R4, 0);
	helper(c, BPF_FUNC_loop);
	ld(c, 8, R6, R10, CLAIM_FOUND);
	jmpi(c, BPF_JNE, R6, 0, out);
	ld(c, 8, R2, R10, CLAIM_FIRST);
	alui(c, BPF_RSH, R2, slot_bits(t));
	dt_tr_row(t, t->maps->cpus, R2, t->plan->ncpus, CPU_SIZE, out);
	movi(c, R1, 1);
	atomic(c, BPF_ADD, R0, CPU_DROPS, R1);
	dt_code_place(c, out);
	mov(c, R0, R6);
	leave(c);
	try_function(t, try);
}

void dt_tr_cpu(dt_tr *t, uint32_t out)
{
	dt_code *c = t->c;

	helper(c, BPF_FUNC_get_smp_processor_id);
	if (t->plan->opts->is_set[DT_O_CPU] &&
	    !dt_kind_is_tracer(t->kind)) /* -x cpu: the others are not traced */
		jmpi(c, BPF_JNE, R0, (int32_t)dt_opt(t->plan->opts, DT_O_CPU), out);
	mov(c, R6, R0);
	dt_tr_row(t, t->maps->cpus, R6, t->plan->ncpus, CPU_SIZE, out);
	mov(c, R9, R0);
}

/*
 *	r6 = cpu * nslots
 *	if (cmpxchg(&r9->busy[0], 0, 1) != 0 && !(r6 = claim(r6, 0))) drop
 *	r6 = &slots[r6]; r6->index = its number; r6->cpu = cpu
 *
 * A program that continues a firing looks for the word that the previous program left there instead of 0. The path by which
 * another slot is found comes first: what the verifier knows then includes the usual case, which it need not follow again.
 */
void dt_tr_claim(dt_tr *t, uint32_t out)
{
	dt_code *c = t->c;
	uint32_t have = dt_code_label(c);
	bool continues = dt_plan_continues(t->plan, t->prog);

	alui(c, BPF_LSH, R6, slot_bits(t));
	if (continues)
		dt_tr_firing_word(t, R3);
	else
		movi(c, R3, 0);
	mov(c, R0, R3);
	movi(c, R1, 1);
	atomic(c, BPF_CMPXCHG, R9, CPU_BUSY, R1);
	jmp(c, BPF_JEQ, R0, R3, have);
	mov(c, R1, R6);
	mov(c, R2, R3);
	t->func.claim = t->func.claim ? t->func.claim : dt_code_func_new(c, "claim");
	dt_code_call(c, t->func.claim);
	jmpi(c, BPF_JEQ, R0, 0, out);
	mov(c, R6, R0);
	alui(c, BPF_SUB, R6, 1);
	dt_code_place(c, have);
	dt_tr_row(t, t->maps->slots, R6, (uint64_t)t->plan->ncpus * t->at->nslots, t->at->slot_size, out);
	mov(c, R1, R6);
	mov(c, R6, R0);
	st(c, 4, R6, S_INDEX, R1);
	alui(c, BPF_RSH, R1, slot_bits(t));
	st(c, 4, R6, S_CPU, R1);
}

void dt_tr_release(dt_tr *t)
{
	dt_code *c = t->c;

	if (dt_plan_has_rest(t->plan, t->prog)) {
		dt_tr_firing_word(t, R1);
		st(c, 8, R6, S_PART, R1);
	}
	ld(c, 4, R1, R6, S_INDEX);
	alui(c, BPF_AND, R1, (int32_t)t->at->nslots - 1);
	alui(c, BPF_LSH, R1, 3);
	alu(c, BPF_ADD, R9, R1);
	if (dt_arch_host()->ordered_stores) {
		sti(c, 8, R9, CPU_BUSY, 0);
	} else { /* after all stores before it */
		movi(c, R1, 0);
		atomic(c, BPF_XCHG, R9, CPU_BUSY, R1);
	}
}

/* busy = the firing's word; tail_call(ctx, next, 0). It does not come back. */
void dt_tr_go_on(dt_tr *t)
{
	dt_code *c = t->c;

	if (!dt_plan_is_continued(t->plan, t->prog))
		return;
	ld(c, 4, R1, R6, S_INDEX);
	alui(c, BPF_AND, R1, (int32_t)t->at->nslots - 1);
	alui(c, BPF_LSH, R1, 3);
	mov(c, R2, R9);
	alu(c, BPF_ADD, R2, R1);
	dt_tr_firing_word(t, R3);
	st(c, 8, R2, CPU_BUSY, R3);
	mov(c, R1, R7);
	map(c, R2, dt_tr_prog_maps(t)->next);
	movi(c, R3, 0);
	helper(c, BPF_FUNC_tail_call);
}

void dt_tr_begin_with_slot(dt_tr *t, uint32_t func)
{
	dt_code *c = t->c;
	uint32_t have = dt_code_label(c), none = dt_code_label(c);

	dt_code_func_begin_global(c, func, 1);
	c->funcs.v[func].own_slot = true;
	ld(c, 4, R2, R1, S_INDEX);
	dt_tr_row(t, t->maps->slots, R2, (uint64_t)t->plan->ncpus * t->at->nslots, t->at->slot_size, none);
	ja(c, have);
	dt_code_place(c, none);
	movi(c, R0, 0);
	leave(c);
	dt_code_place(c, have);
	mov(c, R6, R0);
}

void dt_tr_claim_functions(dt_tr *t)
{
	if (t->func.claim)
		claim_function(t);
}

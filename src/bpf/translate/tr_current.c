/*
 * tr_current: the current thread, in programs at system calls.
 *
 * A call of a helper costs 2 to 20 ns, depending on how the CPU guards returns, and to know the thread takes one
 * (get_current_task_btf()). So the CPU's row remembers the thread that was there last. Both events pass the registers of the
 * thread, which are on its kernel stack, and no two threads share a stack. So if they are on the stack of the remembered
 * thread, that is the thread:
 *
 *	r0 = row->thread
 *	if (regs - r0->stack >= size of a stack) row->thread = r0 = get_current_task_btf()
 *
 * A thread that has ended, and whose memory has become something else, has no stack: the kernel clears that member before it
 * gives the stack to another thread. Loads from what is not memory any more give 0. Nothing depends on which CPU this is: if
 * the program is preempted and continues on another one, the check fails, or the thread is still the right one.
 *
 * A program whose only clause has variables of the thread needs a pointer that the kernel trusts. It calls the helper, once,
 * and keeps the pointer on its stack.
 */
#include "arch/arch.h"
#include "bpf/translate/translate.h"

enum { KEPT = 0 }; /* of an instruction, in place of an offset from r10: where the thread is; dt_tr_place_task() */

bool dt_tr_keeps_task(const dt_tr *t)
{
	return t->alone && dt_tr_finds_first(t) && dt_plan_can(t->plan, COMPAT) && dt_plan_can(t->plan, BTF) && t->need->is.task_storage &&
	       dt_layout_has_storage(t->at, t->plan);
}

bool dt_tr_remembers_task(const dt_tr *t)
{
	uint32_t stack;

	return !dt_tr_keeps_task(t) && dt_tr_finds_first(t) && dt_plan_can(t->plan, COMPAT) && dt_tr_can_cast(t, "task_struct") &&
	       dt_tr_find_field(t->plan, "task_struct", "stack", &stack);
}

static void remembered(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t have = dt_code_label(c), stack = 0;

	dt_tr_find_field(t->plan, "task_struct", "stack", &stack);
	ld(c, 8, R3, R9, CPU_THREAD);
	dt_tr_cast(t, "task_struct");
	ld(c, 8, R2, R0, (int)stack);
	ld(c, 8, R1, R7, 0);
	alu(c, BPF_SUB, R1, R2);
	jmpi(c, BPF_JLT, R1, (int32_t)dt_arch_host()->entry.stack_size, have);
	helper(c, BPF_FUNC_get_current_task_btf);
	st(c, 8, R9, CPU_THREAD, R0);
	ld(c, 8, R3, R9, CPU_THREAD);
	dt_tr_cast(t, "task_struct");
	dt_code_place(c, have);
}

void dt_tr_current(dt_tr *t, uint32_t out)
{
	if (dt_tr_remembers_task(t)) {
		dt_tr_cpu(t, out);
		remembered(t);
		if (t->need->reads.task)
			st(t->c, 8, R10, DT_FOUND_TASK, R0);
		return;
	}
	helper(t->c, BPF_FUNC_get_current_task_btf);
	if (dt_tr_keeps_task(t))
		st(t->c, 8, R10, DT_FOUND_TASK, R0);
}

void dt_tr_found_task(dt_tr *t)
{
	if (!dt_tr_remembers_task(t) || !t->need->reads.task)
		return;
	ld(t->c, 8, R1, R10, DT_FOUND_TASK);
	st(t->c, 8, R6, S_TASK, R1);
}

bool dt_tr_known_task(dt_tr *t, int to)
{
	if (dt_tr_finds_first(t))
		dt_tr_reads(t, task); /* whether it can be remembered is known in the second round */
	if (!dt_tr_remembers_task(t) || !t->need->reads.task)
		return false;
	ld(t->c, 8, to, R6, S_TASK);
	return true;
}

bool dt_tr_kept_task(dt_tr *t)
{
	if (!t->inside || !dt_tr_keeps_task(t))
		return false;
	ld(t->c, 8, R0, R10, KEPT);
	return true;
}

void dt_tr_place_task(dt_tr *t, uint32_t from, int at)
{
	for (uint32_t i = from; i < t->c->insns.n; i++) {
		struct bpf_insn *x = &t->c->insns.v[i];

		if (x->code == (BPF_LDX | BPF_MEM | BPF_DW) && x->src_reg == R10 && x->off == KEPT)
			x->off = (int16_t)at;
	}
}

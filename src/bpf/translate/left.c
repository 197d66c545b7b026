/*
 * left: the user stack of a thread that gets the CPU.
 *
 * A probe about the next thread (dt_attach.task_arg) fires while the previous one is still current:
 * the memory of the next thread cannot be read. But its user stack has not changed since it left
 * the CPU, and at that time it was current, at the same event. So the program saves the stack of
 * every thread that leaves, by thread:
 *
 *	at sched_switch(preempt, prev, next):	left[prev] = bytes, frames ...
 *	ustack():	left[next]
 *
 * This is done for every thread, whatever the predicates, which are about the next thread. A thread
 * that has not left a CPU since tracing began has no stack.
 */
#include "bpf/translate/translate.h"
#include "bpf/translate/unwind.h"

#define MOST (127 * 8) /* the slot's stack area, less the word before the frames */

/* r1 = the map, r2 = the thread in r0, as a key */
static void by_thread(dt_tr *t)
{
	dt_code *c = t->c;

	st(c, 4, R10, -8, R0);
	map(c, R1, t->maps->left);
	mov(c, R2, R10);
	alui(c, BPF_ADD, R2, -8);
}

void dt_tr_left_keep(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t ok = dt_code_label(c), area = t->at->stack, about = t->task_arg;

	if (!about || !t->need->is.left)
		return;
	t->task_arg = 0; /* this part is about the thread that leaves */
	dt_tr_read_stack(t, true, area + 8, t->need->is.left);
	jmpi(c, BPF_JSGE, R0, 0, ok);
	movi(c, R0, 0);
	dt_code_place(c, ok);
	dt_slot_st(c, 8, area, R0);
	dt_tr_thread_id(t);
	t->task_arg = about;
	by_thread(t);
	dt_slot_lea(c, R3, area);
	movi(c, R4, 0);
	helper(c, BPF_FUNC_map_update_elem);
}

/* r0 = bytes of the frames that are now at slot + off */
void dt_tr_left_read(dt_tr *t, uint32_t off, uint32_t size)
{
	dt_code *c = t->c;
	uint32_t fits = dt_code_label(c), done = dt_code_label(c);
	uint32_t about = t->task_arg;

	if (size > MOST)
		size = MOST;
	if (t->learn && size > t->learn->is.left)
		t->learn->is.left = size;
	dt_tr_needs(t, stack);
	t->task_arg = 0;
	dt_uw_can(t); /* so that the walker is emitted */
	t->task_arg = about;
	dt_tr_thread_id(t);
	by_thread(t);
	helper(c, BPF_FUNC_map_lookup_elem);
	jmpi(c, BPF_JEQ, R0, 0, done);
	mov(c, R3, R0);
	ld(c, 8, R8, R3, 0);
	mov(c, R0, R8);
	jmpi(c, BPF_JEQ, R8, 0, done);
	jmpi(c, BPF_JLE, R8, (int32_t)size, fits);
	movi(c, R8, (int32_t)size);
	dt_code_place(c, fits);
	dt_slot_lea(c, R1, off);
	mov(c, R2, R8);
	alui(c, BPF_ADD, R3, 8);
	helper(c, BPF_FUNC_probe_read_kernel);
	mov(c, R0, R8);
	dt_code_place(c, done);
}

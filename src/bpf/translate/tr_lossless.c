/*
 * tr_lossless: option policy=lossless. A process that may be stopped is, before it can fill a buffer.
 *
 *	a quarter	half		three quarters
 *	|---------------|---------------|---------------|
 *	all write	ours are stopped, and	only ours
 *			still write		write
 *
 * A signal does not stop a thread at once: it takes effect when the thread returns to user mode, and the other threads
 * of the process may be in the middle of a system call. What they record until then goes to the upper half. Processes
 * that may not be stopped leave the last quarter to those that may; they are told apart only while the buffer is half
 * full. The tracer continues the processes when it has emptied the buffers (run/lossless.c), and proc/guard.h explains
 * what happens if it dies.
 */
#include "bpf/translate/translate.h"

#define PID   (-16) /* on the stack, in this order: what find() gets */
#define FOUND (-8)

#define SIGSTOP_NUMBER 19

/*
 * find(i, { pid, found }): a callback of bpf_loop
 *	if (control->ours[i].pid == pid) { found = i + 1; stop }
 */
static void find_function(dt_tr *t, uint32_t func)
{
	dt_code *c = t->c;
	uint32_t stop = dt_code_label(c), next = dt_code_label(c);

	dt_code_func_begin(c, func);
	jmpi(c, BPF_JGE, R1, DT_OURS_MAX, stop);
	mov(c, R3, R1);
	alui(c, BPF_MUL, R3, DT_OURS_SIZE);
	map_value(c, R4, t->maps->control, CTL_OURS);
	alu(c, BPF_ADD, R4, R3);
	ld(c, 8, R4, R4, 0);
	ld(c, 8, R5, R2, 0);
	jmp(c, BPF_JNE, R4, R5, next);
	alui(c, BPF_ADD, R1, 1);
	st(c, 8, R2, FOUND - PID, R1);
	dt_code_place(c, stop);
	movi(c, R0, 1);
	leave(c);
	dt_code_place(c, next);
	movi(c, R0, 0);
	leave(c);
}

/* *(u64 *)pid = the current process, also in programs whose probes are about another thread */
static void find_process(dt_tr *t)
{
	uint32_t task_arg = t->task_arg;

	t->task_arg = 0;
	dt_tr_pid_tgid(t);
	t->task_arg = task_arg;
	alui(t->c, BPF_RSH, R0, 32);
	st(t->c, 8, R10, PID, R0);
}

/*
 * stop(slot): r0 = 0 if the current process may not be stopped
 *	if (!control->armed || (i = find(pid)) < 0) return 0;
 *	send_signal_thread(SIGSTOP); control->ours[i].stops++; return 1;
 */
void dt_tr_lossless_functions(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t no = dt_code_label(c), find;

	if (!t->func.stop)
		return;
	find = dt_code_func_new(c, "find");
	dt_code_func_begin_global(c, t->func.stop, 1);
	mov(c, R6, R1);
	map_value(c, R1, t->maps->control, CTL_ARMED);
	ld(c, 8, R1, R1, 0);
	jmpi(c, BPF_JEQ, R1, 0, no);
	find_process(t);
	jmpi(c, BPF_JEQ, R0, 0, no);
	sti(c, 8, R10, FOUND, 0);
	movi(c, R1, DT_OURS_MAX);
	dt_code_func_addr(c, R2, find);
	mov(c, R3, R10);
	alui(c, BPF_ADD, R3, PID);
	movi(c, R4, 0);
	helper(c, BPF_FUNC_loop);
	ld(c, 8, R7, R10, FOUND);
	jmpi(c, BPF_JEQ, R7, 0, no);
	jmpi(c, BPF_JGT, R7, DT_OURS_MAX, no); /* never */
	movi(c, R1, SIGSTOP_NUMBER);
	helper(c, BPF_FUNC_send_signal_thread); /* this thread takes it, at once; the whole process stops */
	alui(c, BPF_SUB, R7, 1);
	alui(c, BPF_MUL, R7, DT_OURS_SIZE);
	map_value(c, R1, t->maps->control, CTL_OURS);
	alu(c, BPF_ADD, R1, R7);
	movi(c, R2, 1);
	atomic(c, BPF_ADD, R1, 8, R2);
	movi(c, R0, 1);
	leave(c);
	dt_code_place(c, no);
	movi(c, R0, 0);
	leave(c);
	find_function(t, find);
}

void dt_tr_make_room(dt_tr *t, uint32_t drop)
{
	dt_code *c = t->c;
	uint64_t size = dt_tr_ring_size(t);
	uint32_t room = dt_code_label(c);

	if (!t->func.stop)
		t->func.stop = dt_code_func_new(c, "stop");
	mov(c, R1, R9);
	movi(c, R2, BPF_RB_AVAIL_DATA);
	helper(c, BPF_FUNC_ringbuf_query);
	jmpi(c, BPF_JLT, R0, (int32_t)(size / 2), room);
	st(c, 8, R10, -16, R0);
	mov(c, R1, R6);
	dt_code_call(c, t->func.stop);
	jmpi(c, BPF_JNE, R0, 0, room);
	ld(c, 8, R0, R10, -16);
	jmpi(c, BPF_JGE, R0, (int32_t)(size / 4 * 3), drop);
	dt_code_place(c, room);
}

/*
 * vtime: vtimestamp, the nanoseconds that the current thread has been on a CPU.
 *
 * The kernel adds them up in the task (se.sum_exec_runtime), but only at a clock tick and when
 * another task gets the CPU: between two system calls the sum usually does not change. What is
 * missing is the time since se.exec_start, on the scheduler's clock, which programs cannot read.
 * They can read the clock of `timestamp`, which runs at the same rate apart from corrections, so
 * the difference of the two clocks is needed. A separate small program measures it whenever a CPU
 * switches tasks: at that moment the scheduler's clock is exec_start of the task that gets the CPU.
 *
 *	at sched_switch(preempt, prev, next):	cpu->vclock = ktime() - next->se.exec_start
 *	vtimestamp:	sum_exec_runtime + (timestamp - cpu->vclock - exec_start)
 *
 * On a CPU that has not switched since tracing began, vtimestamp is the sum alone. It never goes
 * backwards.
 */
#include "bpf/translate/translate.h"

#define LATEST 10000000000ll /* a task without a tick for this long is the idle task */

/* r0 = the u64 at task (in R8) + off */
static void read_task(dt_tr *t, uint32_t off)
{
	mov(t->c, R3, R8);
	alui(t->c, BPF_ADD, R3, (int32_t)off);
	dt_tr_peek(t, 8);
}

/*
 * r0 = slot->value, but not less than the thread's previous reading (the first word of its
 * storage). The scheduler's clock does not count interrupts, so the time added since exec_start can
 * be a few microseconds too much, and a difference of two readings must not be negative.
 */
static void never_back(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t more = dt_code_label(c), done = dt_code_label(c);

	dt_thread_value(t, true);
	mov(c, R1, R0);
	ld(c, 8, R0, R6, S_VALUE);
	jmpi(c, BPF_JEQ, R1, 0, done);
	ld(c, 8, R2, R1, 0);
	jmp(c, BPF_JGE, R0, R2, more);
	mov(c, R0, R2);
	dt_code_place(c, more);
	st(c, 8, R1, 0, R0);
	dt_code_place(c, done);
}

void dt_tr_vtimestamp(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t sum, start, only = dt_code_label(c);

	if (dt_tr_field(t, "task_struct", "se.sum_exec_runtime", &sum) < 0 ||
	    dt_tr_field(t, "task_struct", "se.exec_start", &start) < 0)
		return;
	dt_tr_needs(t, vtime);
	if (t->learn)
		t->learn->is.vtime_start = start;
	dt_tr_task(t, false);
	mov(c, R8, R0);
	read_task(t, sum);
	st(c, 8, R6, S_VALUE, R0);
	read_task(t, start);
	mov(c, R8, R0);
	dt_tr_time(t);
	mov(c, R9, R0);
	alu(c, BPF_SUB, R9, R8);
	dt_tr_cpu_find(t, only);
	ld(c, 8, R1, R0, CPU_VCLOCK);
	jmpi(c, BPF_JEQ, R1, 0, only);
	alu(c, BPF_SUB, R9, R1);
	jmpi(c, BPF_JSLT, R9, 0, only);
	movq(c, R1, LATEST);
	jmp(c, BPF_JSGT, R9, R1, only);
	ld(c, 8, R0, R6, S_VALUE);
	alu(c, BPF_ADD, R0, R9);
	st(c, 8, R6, S_VALUE, R0);
	dt_code_place(c, only);
	never_back(t);
}

/* ---- the program at sched_switch ---- */

int dt_tr_vtime_switch(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t out = dt_code_label(c);

	dt_code_func_begin(c, dt_code_func_new(c, "vtime"));
	ld(c, 8, R3, R1, 16); /* next */
	alui(c, BPF_ADD, R3, (int32_t)t->need->is.vtime_start);
	mov(c, R1, R10);
	alui(c, BPF_ADD, R1, -8);
	movi(c, R2, 8);
	helper(c, BPF_FUNC_probe_read_kernel);
	jmpi(c, BPF_JNE, R0, 0, out);
	helper(c, BPF_FUNC_ktime_get_ns);
	mov(c, R6, R0);
	ld(c, 8, R1, R10, -8);
	alu(c, BPF_SUB, R6, R1);
	helper(c, BPF_FUNC_get_smp_processor_id);
	mov(c, R2, R0);
	dt_tr_row(t, t->maps->cpus, R2, t->plan->ncpus, CPU_SIZE, out);
	st(c, 8, R0, CPU_VCLOCK, R6);
	dt_code_place(c, out);
	movi(c, R0, 0);
	leave(c);
	return 0;
}

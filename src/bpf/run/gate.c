/*
 * gate: a place in a process where it waits until the tracer has seen what it did.
 *
 * When a process has loaded a library, it may call its functions a microsecond later, but the
 * tracer is another process and needs a few milliseconds to find them and to attach. So there is a
 * gate at the function that the dynamic linker calls for debuggers when it has loaded an object: a
 * program that draws a number, wakes the tracer, and spins until the tracer has admitted that
 * number:
 *
 *	if (not this process, or tracing is not on) return
 *	ticket = ++control->tickets; control->comers[ticket % 16] = pid; control->arrived++; wake
 *	if (control->late) return
 *	until (control->admitted >= ticket)
 *		if (1 s has passed) { control->late = true; return }
 *		read a word of its stack the long way
 *
 * The process spins only until the tracer has grabbed it by ptrace (session/grow.c); it then stops
 * on its return to user mode, and continues when the probes are attached. If the tracer is busy or
 * dead, the process continues, and its calls before the tracer is ready are not seen.
 *
 * This is the only place where one of our programs waits, and only processes with named probes
 * reach it. The program is sleepable, because attaching waits for RCU, which other programs would
 * delay. The tracer may have no other CPU than this one, and a non-preemptible kernel would never
 * give it to the tracer. No helper exists to yield, but in every kernel the one that reads user
 * memory through the page tables offers to reschedule on its way.
 */
#include "arch/arch.h"
#include "bpf/run/attaching.h"
#include "bpf/run/kmap.h"
#include "kernel/links.h"

#define PATIENCE 1000000000 /* ns */
#define TURNS	 (1 << 23)  /* as many as bpf_loop() allows: more than a second */

enum { STACK = -24, TICKET = -16, DEADLINE = -8, SCRATCH = -32 }; /* on the stack */

/* r0 = pid, as we see it */
static void process_id(dt_tr *t)
{
	dt_code *c = t->c;

	if (!t->plan->features.pidns_ino) {
		helper(c, BPF_FUNC_get_current_pid_tgid);
		alui(c, BPF_RSH, R0, 32);
		return;
	}
	sti(c, 8, R10, SCRATCH, 0);
	movq(c, R1, t->plan->features.pidns_dev);
	movq(c, R2, t->plan->features.pidns_ino);
	mov(c, R3, R10);
	alui(c, BPF_ADD, R3, SCRATCH);
	movi(c, R4, 8);
	helper(c, BPF_FUNC_get_ns_current_pid_tgid);
	ld(c, 4, R0, R10, SCRATCH + 4);
}

static void draw_number(dt_tr *t)
{
	dt_code *c = t->c;

	map_value(c, R8, t->maps->control, 0);
	movi(c, R1, 1);
	atomic(c, BPF_ADD | BPF_FETCH, R8, CTL_TICKETS, R1);
	alui(c, BPF_ADD, R1, 1);
	st(c, 8, R10, TICKET, R1);
	alui(c, BPF_AND, R1, DT_GATE_COMERS - 1);
	alui(c, BPF_LSH, R1, 2);
	alu(c, BPF_ADD, R8, R1);
	st(c, 4, R8, CTL_COMERS, R6);
	map_value(c, R8, t->maps->control, 0);
	movi(c, R1, 1);
	/* after the store above: an atomic operation orders stores only if it returns a value */
	atomic(c, dt_arch_host()->ordered_stores ? BPF_ADD : BPF_ADD | BPF_FETCH, R8, CTL_ARRIVED, R1);
	map(c, R1, t->maps->wake);
	mov(c, R2, R10);
	alui(c, BPF_ADD, R2, TICKET);
	movi(c, R3, 8);
	movi(c, R4, BPF_RB_FORCE_WAKEUP);
	helper(c, BPF_FUNC_ringbuf_output);
	helper(c, BPF_FUNC_ktime_get_ns);
	alui(c, BPF_ADD, R0, PATIENCE);
	st(c, 8, R10, DEADLINE, R0);
}

static void main_function(dt_tr *t, uint32_t turn)
{
	dt_code *c = t->c;
	uint32_t out = dt_code_label(c);

	ld(c, 8, R2, R1, DT_REG_AT(dt_arch_host()->sp));
	st(c, 8, R10, STACK, R2);
	helper(c, BPF_FUNC_get_attach_cookie);
	mov(c, R6, R0);
	process_id(t);
	jmp(c, BPF_JNE, R0, R6, out);
	map_value(c, R1, t->maps->control, CTL_WORD);
	ld(c, 8, R1, R1, 0);
	alui(c, BPF_AND, R1, CTL_ACTIVE);
	jmpi(c, BPF_JEQ, R1, 0, out);
	draw_number(t);
	map_value(c, R1, t->maps->control, CTL_LATE);
	ld(c, 8, R1, R1, 0);
	jmpi(c, BPF_JNE, R1, 0, out);
	movi(c, R1, TURNS);
	dt_code_func_addr(c, R2, turn);
	mov(c, R3, R10);
	alui(c, BPF_ADD, R3, STACK);
	movi(c, R4, 0);
	helper(c, BPF_FUNC_loop);
	dt_code_place(c, out);
	movi(c, R0, 0);
	leave(c);
}

/* turn(i, { stack, ticket, deadline }): 1: enough */
static void turn_function(dt_tr *t, uint32_t turn)
{
	dt_code *c = t->c;
	uint32_t enough = dt_code_label(c), late = dt_code_label(c);

	dt_code_func_begin(c, turn);
	mov(c, R6, R2);
	map_value(c, R1, t->maps->control, CTL_ADMITTED);
	ld(c, 8, R1, R1, 0);
	ld(c, 8, R2, R6, TICKET - STACK);
	jmp(c, BPF_JGE, R1, R2, enough);
	helper(c, BPF_FUNC_ktime_get_ns);
	ld(c, 8, R1, R6, DEADLINE - STACK);
	jmp(c, BPF_JGT, R0, R1, late);
	helper(c, BPF_FUNC_get_current_task_btf);
	mov(c, R4, R0);
	mov(c, R1, R10);
	alui(c, BPF_ADD, R1, -8);
	movi(c, R2, 4);
	ld(c, 8, R3, R6, 0);
	movi(c, R5, 0);
	helper(c, BPF_FUNC_copy_from_user_task);
	movi(c, R0, 0);
	leave(c);
	dt_code_place(c, late);
	map_value(c, R1, t->maps->control, CTL_LATE);
	sti(c, 8, R1, 0, 1);
	dt_code_place(c, enough);
	movi(c, R0, 1);
	leave(c);
}

static int gate_code(dt_tr *t)
{
	uint32_t turn;

	dt_code_func_begin(t->c, dt_code_func_new(t->c, "dtrace"));
	turn = dt_code_func_new(t->c, "turn");
	main_function(t, turn);
	turn_function(t, turn);
	return 0;
}

static int load(dt_bpf *e, dt_error *err)
{
	struct dt_small_program small = {
	    .name = "dtrace_gate",
	    .type = BPF_PROG_TYPE_KPROBE,
	    .attach_type = dt_plan_can(&e->plan, UPROBE_MULTI) ? DT_BPF_TRACE_UPROBE_MULTI : 0,
	    .sleeps = true};

	return dt_small_load(e, &small, gate_code, err);
}

int dt_gate(dt_bpf *e, const char *path, uint64_t offset, long pid, dt_error *err)
{
	if (e->gate < 0)
		e->gate = load(e, err);
	return e->gate < 0
		   ? -1
		   : dt_attach_place(e, e->gate, path, offset, (int)pid, (uint64_t)pid, err);
}

uint64_t dt_gate_arrived(const dt_bpf *e)
{
	return __atomic_load_n(dt_control(e, CTL_ARRIVED), __ATOMIC_ACQUIRE);
}

long dt_gate_comer(const dt_bpf *e, uint64_t n)
{
	const uint32_t *comers = (const void *)dt_control(e, CTL_COMERS);

	if (dt_gate_arrived(e) - n >= DT_GATE_COMERS)
		return 0;
	return __atomic_load_n(&comers[n & (DT_GATE_COMERS - 1)], __ATOMIC_ACQUIRE);
}

void dt_gate_admit(dt_bpf *e, uint64_t n)
{
	__atomic_store_n(dt_control(e, CTL_LATE), 0, __ATOMIC_RELAXED);
	__atomic_store_n(dt_control(e, CTL_ADMITTED), n, __ATOMIC_RELEASE);
}

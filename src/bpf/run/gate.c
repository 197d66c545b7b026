/*
 * gate: a place in a process where it waits until the tracer has seen what it did.
 *
 * When a process has loaded a library, its functions may be called in the next microsecond, but
 * the tracer is another process and needs a few milliseconds to find them and to attach. So there
 * is a gate at the function that the dynamic linker calls for debuggers when it has loaded
 * something: a program that draws a number, wakes the tracer, and spins until the tracer has
 * admitted that number:
 *
 *	if (not this process, or tracing is not on) return
 *	ticket = ++control->tickets; control->comers[ticket % 16] = pid; control->arrived++; wake
 *	until (control->admitted >= ticket || 1 s has passed)
 *		read a word of its stack the long way
 *
 * The tracer lets it spin only until it has it by ptrace (session/grow.c); the process then stops
 * on its way back to user mode, and goes on when the probes are there. If the tracer is busy or
 * dead, the process goes on all the same, and what it calls before the tracer comes is not seen.
 *
 * It is the only place where a program of ours waits, and only a process that named probes are in
 * comes here. The program is a sleepable one, because attaching waits for RCU, which other
 * programs would hold up. The tracer may have no CPU but this one, and a kernel that does not preempt
 * itself would never give it to it. No helper is made to yield, but the one that reads user memory
 * through the page tables offers the CPU on its way, in every kernel.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "arch/arch.h"
#include "bpf/image.h"

#define PATIENCE 1000000000 /* ns */
#define TURNS	 (1 << 23)  /* as many as bpf_loop() allows: more than a second */

enum { STACK = -24, TICKET = -16, DEADLINE = -8, SCRATCH = -32 }; /* on the stack */

/* r0 = pid, as we see it */
static void process_id(const dt_engine *e, dt_code *c)
{
	if (!e->pidns_ino) {
		helper(c, BPF_FUNC_get_current_pid_tgid);
		alui(c, BPF_RSH, R0, 32);
		return;
	}
	sti(c, 8, R10, SCRATCH, 0);
	movq(c, R1, e->pidns_dev);
	movq(c, R2, e->pidns_ino);
	mov(c, R3, R10);
	alui(c, BPF_ADD, R3, SCRATCH);
	movi(c, R4, 8);
	helper(c, BPF_FUNC_get_ns_current_pid_tgid);
	ld(c, 4, R0, R10, SCRATCH + 4);
}

static void draw_number(const dt_engine *e, dt_code *c)
{
	map_value(c, R8, e->fd_control, 0);
	movi(c, R1, 1);
	atomic(c, BPF_ADD | BPF_FETCH, R8, CTL_TICKETS, R1);
	alui(c, BPF_ADD, R1, 1);
	st(c, 8, R10, TICKET, R1);
	alui(c, BPF_AND, R1, DT_BPF_COMERS - 1);
	alui(c, BPF_LSH, R1, 2);
	alu(c, BPF_ADD, R8, R1);
	st(c, 4, R8, CTL_COMERS, R6);
	map_value(c, R8, e->fd_control, 0);
	movi(c, R1, 1);
	atomic(c, BPF_ADD, R8, CTL_ARRIVED, R1);
	map(c, R1, e->fd_wake);
	mov(c, R2, R10);
	alui(c, BPF_ADD, R2, TICKET);
	movi(c, R3, 8);
	movi(c, R4, BPF_RB_FORCE_WAKEUP);
	helper(c, BPF_FUNC_ringbuf_output);
	helper(c, BPF_FUNC_ktime_get_ns);
	alui(c, BPF_ADD, R0, PATIENCE);
	st(c, 8, R10, DEADLINE, R0);
}

static void main_function(const dt_engine *e, dt_code *c, uint32_t turn)
{
	uint32_t out = dt_code_label(c);

	ld(c, 8, R2, R1, DT_REG_AT(dt_arch_host()->sp));
	st(c, 8, R10, STACK, R2);
	helper(c, BPF_FUNC_get_attach_cookie);
	mov(c, R6, R0);
	process_id(e, c);
	jmp(c, BPF_JNE, R0, R6, out);
	map_value(c, R1, e->fd_control, CTL_WORD);
	ld(c, 8, R1, R1, 0);
	alui(c, BPF_AND, R1, CTL_ACTIVE);
	jmpi(c, BPF_JEQ, R1, 0, out);
	draw_number(e, c);
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
static void turn_function(const dt_engine *e, dt_code *c, uint32_t turn)
{
	uint32_t enough = dt_code_label(c);

	dt_code_func_begin(c, turn);
	mov(c, R6, R2);
	map_value(c, R1, e->fd_control, CTL_ADMITTED);
	ld(c, 8, R1, R1, 0);
	ld(c, 8, R2, R6, TICKET - STACK);
	jmp(c, BPF_JGE, R1, R2, enough);
	helper(c, BPF_FUNC_ktime_get_ns);
	ld(c, 8, R1, R6, DEADLINE - STACK);
	jmp(c, BPF_JGT, R0, R1, enough);
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
	dt_code_place(c, enough);
	movi(c, R0, 1);
	leave(c);
}

static int load(dt_engine *e, dt_error *err)
{
	LIBBPF_OPTS(bpf_prog_load_opts, o, .func_info_rec_size = sizeof(struct bpf_func_info),
		    .expected_attach_type = e->has_uprobe_multi ? DT_BPF_TRACE_UPROBE_MULTI : 0,
		    .prog_flags = BPF_F_SLEEPABLE);
	dt_code c = {0};
	struct bpf_func_info *info;
	uint32_t turn;
	int btf, fd = -1;

	dt_code_func_begin(&c, dt_code_func_new(&c, "dtrace"));
	turn = dt_code_func_new(&c, "turn");
	main_function(e, &c, turn);
	turn_function(e, &c, turn);
	info = dt_xcalloc(c.funcs.n, sizeof(*info));
	btf = dt_code_finish(&c) == 0 ? dt_code_btf(&c, e->at.slot_size, info, err) : -1;
	if (btf >= 0) {
		o.prog_btf_fd = (uint32_t)btf;
		o.func_info = info;
		o.func_info_cnt = c.funcs.n;
		fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "dtrace_gate", "Dual BSD/GPL", c.insns.v,
				   c.insns.n, &o);
		if (fd < 0)
			dt_load_error(err, "load a program into");
		close(btf);
	}
	free(info);
	dt_code_free(&c);
	return fd;
}

int dt_gate(dt_engine *e, const char *path, uint64_t offset, long pid, dt_error *err)
{
	if (e->fd_gate < 0) {
		e->fd_gate = load(e, err);
		if (e->fd_gate < 0)
			return -1;
		*dt_vec_add(&e->fds, NULL) = e->fd_gate;
	}
	return dt_attach_place(e, e->fd_gate, path, offset, (int)pid, (uint64_t)pid, err);
}

uint64_t dt_gate_arrived(const dt_engine *e)
{
	return __atomic_load_n((uint64_t *)(void *)(e->control + CTL_ARRIVED), __ATOMIC_ACQUIRE);
}

long dt_gate_comer(const dt_engine *e, uint64_t n)
{
	const uint32_t *comers = (const uint32_t *)(const void *)(e->control + CTL_COMERS);

	if (dt_gate_arrived(e) - n >= DT_BPF_COMERS)
		return 0;
	return __atomic_load_n(&comers[n & (DT_BPF_COMERS - 1)], __ATOMIC_ACQUIRE);
}

void dt_gate_admit(dt_engine *e, uint64_t n)
{
	__atomic_store_n((uint64_t *)(void *)(e->control + CTL_ADMITTED), n, __ATOMIC_RELEASE);
}

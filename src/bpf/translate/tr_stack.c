/*
 * tr_stack: stacks: of the kernel by its helpers, of user code by our own walker (unwind.c).
 */
#include "arch/arch.h"
#include "bpf/translate/translate.h"

/* A tracepoint's program sees itself on the stack: clause, main, bpf_trace_runN, __bpf_trace_EVENT;
 * one called by a function: clause, main, the trampoline; on some CPUs also the helper. All others begin where the CPU
 * was interrupted. A clause that is a part of main has no frame. */
#define OWN_FRAMES    4
#define DIRECT_FRAMES 3

static int stack_flags(const dt_tr *t, bool user)
{
	return user		   ? BPF_F_USER_STACK
	       : dt_tr_has_regs(t) ? 0
				   : (t->direct ? DIRECT_FRAMES : OWN_FRAMES) - t->inside + dt_arch_host()->helper_frames;
}

static bool has_stack(const dt_tr *t)
{
	return !dt_kind_is_tracer(t->kind);
}

/* The stack of another thread: where it left the CPU, in the kernel. */
static void read_task_stack(dt_tr *t, uint32_t off, uint32_t size)
{
	dt_code *c = t->c;

	dt_tr_task(t, true);
	mov(c, R1, R0);
	dt_slot_lea(c, R2, off);
	movi(c, R3, (int32_t)size);
	movi(c, R4, 0);
	helper(c, BPF_FUNC_get_task_stack);
}

/* At the entry of a function that finds its return address in a register, the kernel's walk misses the caller: it
 * follows frame pointers. So the frames go one word further up, and between the first two goes the register. */
static void add_caller(dt_tr *t, uint32_t off)
{
	const dt_arch *a = dt_arch_host();
	dt_code *c = t->c;
	uint32_t failed = dt_code_label(c);

	jmpi(c, BPF_JSLT, R0, 8, failed);
	dt_slot_lea(c, R2, off);
	ld(c, 8, R1, R2, 8);
	st(c, 8, R2, 0, R1);
	ld(c, 8, R1, R7, DT_REG_AT(dt_arch_dwarf(a, a->unwind.ra)));
	st(c, 8, R2, 8, R1);
	alui(c, BPF_ADD, R0, 8);
	dt_code_place(c, failed);
}

static bool misses_caller(const dt_tr *t, bool user, uint32_t size)
{
	return !user && t->kind == PK_FUNC_ENTRY && dt_tr_has_regs(t) && dt_arch_host()->unwind.ra_at == 0 && size >= 16;
}

void dt_tr_read_stack(dt_tr *t, bool user, uint32_t off, uint32_t size)
{
	uint32_t room = misses_caller(t, user, size) ? 8 : 0;
	dt_code *c = t->c;
	uint32_t done = dt_code_label(c);

	if (t->task_arg) {
		if (user)
			dt_tr_left_read(t, off, size);
		else
			read_task_stack(t, off, size);
		return;
	}
	if (user && dt_tr_unwind(t, off, size / 8))
		jmpi(c, BPF_JSGE, R0, 0, done);
	mov(c, R1, R7);
	dt_slot_lea(c, R2, off + room);
	movi(c, R3, (int32_t)(size - room));
	movi(c, R4, stack_flags(t, user));
	helper(c, BPF_FUNC_get_stack);
	if (room)
		add_caller(t, off);
	dt_code_place(c, done);
}

#define KERNEL_DEPTH 127   /* what the area in the slot holds */
#define USER_DEPTH   16384 /* our walker counts without storing, 44 ns a frame */

/* r0 = bytes of the stack that is now in the slot's stack area, or 0 */
static void read_stack(dt_tr *t, bool user, uint32_t frames)
{
	dt_code *c = t->c;
	uint32_t ok = dt_code_label(c);

	dt_tr_needs(t, stack);
	dt_tr_read_stack(t, user, t->at->stack, frames * 8);
	jmpi(c, BPF_JSGE, R0, 0, ok);
	movi(c, R0, 0);
	dt_code_place(c, ok);
}

static uint32_t depth_limit(const dt_tr *t, uint32_t most)
{
	uint64_t limit = dt_opt(t->plan->opts, DT_O_MAXFRAMES);

	return limit && limit < most ? (uint32_t)limit : most;
}

/* A user stack is as deep as ustack() can walk it. */
void dt_tr_stack_depth(dt_tr *t, bool user)
{
	dt_code *c = t->c;
	uint32_t counted = dt_code_label(c);

	if (!has_stack(t)) {
		movi(c, R0, 0);
		return;
	}
	if (user && !t->task_arg && dt_tr_unwind(t, 0, depth_limit(t, USER_DEPTH)))
		jmpi(c, BPF_JSGE, R0, 0, counted);
	read_stack(t, user, depth_limit(t, KERNEL_DEPTH));
	dt_code_place(c, counted);
	alui(c, BPF_RSH, R0, 3);
}

void dt_tr_caller(dt_tr *t, bool user)
{
	dt_code *c = t->c;
	uint32_t none = dt_code_label(c), done = dt_code_label(c);

	if (!has_stack(t)) {
		movi(c, R0, 0);
		return;
	}
	read_stack(t, user, 2);
	jmpi(c, BPF_JLT, R0, 16, none);
	dt_slot_lea(c, R1, t->at->stack);
	ld(c, 8, R0, R1, 8);
	ja(c, done);
	dt_code_place(c, none);
	movi(c, R0, 0);
	dt_code_place(c, done);
}

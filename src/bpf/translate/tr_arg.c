/*
 * tr_arg: arguments of the probe, and registers: where they are depends on the kind of probe
 * (plan/kinds.h), on how a kernel function is called, and on the CPU (src/arch).
 */
#include <errno.h>

#include "arch/arch.h"
#include "bpf/translate/translate.h"

/* ---- arguments ---- */

#define PT_REGS_SIZE DT_REG_AT(dt_arch_host()->nregs)

/* r0 = the registers the thread entered the kernel with, as a typed pointer (needs kernel BTF) */
static void user_regs(dt_tr *t)
{
	dt_code *c = t->c;

	dt_tr_task(t, true);
	mov(c, R1, R0);
	helper(c, BPF_FUNC_task_pt_regs);
}

/* r0 = argument n of a system call, whose registers are at `base` + off. */
static void load_arg(dt_tr *t, uint32_t n, int base, int off)
{
	const struct dt_arch_entry *regs = &dt_arch_host()->entry;
	dt_code *c = t->c;
	uint32_t compat = dt_code_label(c), done = dt_code_label(c);

	if (!t->compat) {
		ld(c, 8, R0, base, off + DT_REG_AT(regs->arg[n]));
		return;
	}
	dt_tr_reads(t, flags);
	ld(c, 4, R1, R6, S_FLAGS);
	jmpi(c, BPF_JSET, R1, SF_COMPAT, compat);
	ld(c, 8, R0, base, off + DT_REG_AT(regs->arg[n]));
	ja(c, done);
	dt_code_place(c, compat);
	ld(c, 8, R0, base, off + DT_REG_AT(regs->compat_arg[n]));
	mov32(c, R0, R0);
	dt_code_place(c, done);
}

static void entry_arg(dt_tr *t, uint32_t n)
{
	dt_code *c = t->c;
	uint32_t have = dt_code_label(c);

	if (n >= DT_NELEM(dt_arch_host()->entry.arg)) {
		movi(c, R0, 0);
		return;
	}
	if (dt_plan_can(t->plan, BTF)) {
		user_regs(t);
		load_arg(t, n, R0, 0);
		return;
	}
	dt_tr_reads(t, flags);
	ld(c, 4, R1, R6, S_FLAGS);
	jmpi(c, BPF_JSET, R1, SF_ARGS, have);
	alui(c, BPF_OR, R1, SF_ARGS);
	st(c, 4, R6, S_FLAGS, R1);
	dt_slot_lea(c, R1, S_PTREGS);
	movi(c, R2, PT_REGS_SIZE < S_PTREGS_SIZE ? PT_REGS_SIZE : S_PTREGS_SIZE);
	ld(c, 8, R3, R7, 0);
	helper(c, BPF_FUNC_probe_read_kernel);
	dt_code_place(c, have);
	load_arg(t, n, R6, S_PTREGS);
}

/* arg0 is the kernel address or 0, arg1 the user address or 0, arg2 of a clock event how late it is */
static void interrupted_arg(dt_tr *t, uint32_t n)
{
	uint32_t done = dt_code_label(t->c);

	if (n == 2 && t->kind == PK_PROFILE) {
		dt_tr_lateness(t);
		return;
	}
	if (n >= 2) {
		movi(t->c, R0, 0);
		return;
	}
	ld(t->c, 8, R0, R7, DT_REG_AT(dt_arch_host()->pc)); /* kernel addresses are negative */
	jmpi(t->c, n == 0 ? BPF_JSLT : BPF_JSGT, R0, n == 0 ? 0 : -1, done);
	movi(t->c, R0, 0);
	dt_code_place(t->c, done);
}

#define ARGS_MAX 10

/* r3 = address of argument n of a function, which is on the stack; r3 = stack pointer at the entry */
static void stack_arg(dt_code *c, uint32_t n)
{
	const struct dt_arch_call *call = &dt_arch_host()->call;

	alui(c, BPF_ADD, R3, (int32_t)((n - call->nargs) * 8 + call->stack_args));
}

/* The first arguments of a function are in struct pt_regs, the others on the stack. */
static void function_arg(dt_tr *t, uint32_t n)
{
	const dt_arch *a = dt_arch_host();
	dt_code *c = t->c;

	if (n < a->call.nargs) {
		ld(c, 8, R0, R7, DT_REG_AT(a->call.arg[n]));
	} else if (n < ARGS_MAX) {
		ld(c, 8, R3, R7, DT_REG_AT(a->sp));
		ld(c, 8, R1, R6, S_NUMBER);
		alui(c, BPF_AND, R1, DT_AT_ENTRY - 1);
		alu(c, BPF_ADD, R3, R1);
		stack_arg(c, n);
		dt_slot_lea(c, R1, S_TMP);
		movi(c, R2, 8);
		helper(c, BPF_FUNC_probe_read_user); /* leaves zeros when it fails */
		ld(c, 8, R0, R6, S_TMP);
	} else {
		movi(c, R0, 0);
	}
}

/* r0 = argument n of a kernel function */
static void kernel_function_arg(dt_tr *t, uint32_t n)
{
	const dt_arch *a = dt_arch_host();
	dt_code *c = t->c;

	if (n >= ARGS_MAX) {
		movi(c, R0, 0);
	} else if (t->direct) { /* as many as it has */
		sti(c, 8, R6, S_TMP, 0);
		mov(c, R1, R7);
		movi(c, R2, (int32_t)n);
		dt_slot_lea(c, R3, S_TMP);
		helper(c, BPF_FUNC_get_func_arg);
		ld(c, 8, R0, R6, S_TMP);
	} else if (n < a->call.nargs) {
		ld(c, 8, R0, R7, DT_REG_AT(a->call.arg[n]));
	} else {
		ld(c, 8, R3, R7, DT_REG_AT(a->sp));
		stack_arg(c, n);
		dt_slot_lea(c, R1, S_TMP);
		movi(c, R2, 8);
		helper(c, BPF_FUNC_probe_read_kernel); /* leaves zeros when it fails */
		ld(c, 8, R0, R6, S_TMP);
	}
}

/* arg1 is what a kernel function returns, arg0 the offset of the instruction that does: see names.c. */
static void kernel_function_result(dt_tr *t, uint32_t n)
{
	dt_code *c = t->c;

	if (n == 0) {
		dt_tr_probe_return(t);
	} else if (n != 1) {
		movi(c, R0, 0);
	} else if (t->direct) {
		sti(c, 8, R6, S_TMP, 0);
		mov(c, R1, R7);
		dt_slot_lea(c, R2, S_TMP);
		helper(c, BPF_FUNC_get_func_ret);
		ld(c, 8, R0, R6, S_TMP);
	} else {
		ld(c, 8, R0, R7, DT_REG_AT(dt_arch_host()->call.result));
	}
}

/* The return of a user function: where it is, and the value. */
static void function_result(dt_tr *t, uint32_t n)
{
	if (n == 0) {
		ld(t->c, 8, R0, R6, S_NUMBER);
		if (dt_arch_host()->unwind.ra_at == 0)
			alui(t->c, BPF_AND, R0, DT_ROW_LEAVES - 1);
	} else if (n == 1) {
		ld(t->c, 8, R0, R7, DT_REG_AT(dt_arch_host()->call.result));
	} else {
		movi(t->c, R0, 0);
	}
}

/* r0 = word n of the context, or 0 if it has fewer */
static void context_arg(dt_tr *t, uint32_t n)
{
	if (n < t->nargs)
		ld(t->c, 8, R0, R7, (int)n * 8);
	else
		movi(t->c, R0, 0);
}

static void syscall_result(dt_tr *t, uint32_t n)
{
	if (n < 2)
		ld(t->c, 8, R0, R7, 8);
	else
		movi(t->c, R0, 0);
}

static void error_arg(dt_tr *t, uint32_t n)
{
	if (n < 6)
		ld(t->c, 8, R0, R6, S_EARGS + (int)n * 8);
	else
		movi(t->c, R0, 0);
}

void dt_tr_event_arg(dt_tr *t, uint32_t n)
{
	switch (dt_kind_of(t->kind)->args) {
	case ARGS_NONE: movi(t->c, R0, 0); break;
	case ARGS_ERROR: error_arg(t, n); break;
	case ARGS_SYSCALL: entry_arg(t, n); break;
	case ARGS_SYSCALL_RESULT: syscall_result(t, n); break;
	case ARGS_INTERRUPTED: interrupted_arg(t, n); break;
	case ARGS_CONTEXT: context_arg(t, n); break;
	case ARGS_FUNCTION: kernel_function_arg(t, n); break;
	case ARGS_FUNCTION_RESULT: kernel_function_result(t, n); break;
	case ARGS_USER: function_arg(t, n); break;
	case ARGS_USER_RESULT: function_result(t, n); break;
	}
}

/* A function that clauses call has no context: they have left what it needs in the slot (dt_tr_save_args). */
static bool is_saved(dt_tr *t, uint32_t n)
{
	uint32_t *saves = t->body ? &t->saves[t->body - t->plan->bodies.v] : NULL;

	if (!saves || t->in_slot || t->kind == PK_ERROR || n >= DT_ATTACH_ARGS ||
	    (dt_kind_of(t->kind)->args == ARGS_SYSCALL && dt_plan_can(t->plan, BTF)))
		return false;
	*saves |= 1u << n;
	return true;
}

void dt_tr_save_args(dt_tr *t, uint32_t which)
{
	for (uint32_t n = 0; n < DT_ATTACH_ARGS; n++)
		if (which >> n & 1) {
			dt_tr_arg(t, n);
			st(t->c, 8, R6, S_PARGS + (int)n * 8, R0);
		}
}

/* The probe's argument: the event's, or the one computed by the prologue. */
void dt_tr_arg(dt_tr *t, uint32_t n)
{
	if (is_saved(t, n)) {
		ld(t->c, 8, R0, R6, S_PARGS + (int)n * 8);
		return;
	}
	if (!t->in_slot || t->kind == PK_ERROR || n >= DT_ATTACH_ARGS) {
		dt_tr_event_arg(t, t->in_slot && t->kind != PK_ERROR ? UINT32_MAX : n);
		return;
	}
	if (t->learn)
		t->learn->used[t->plan->progs.v[t->prog].whole] |= 1u << n;
	ld(t->c, 8, R0, R6, S_PARGS + (int)n * 8);
}

dt_tr_val dt_tr_known_arg(const dt_tr *t, uint32_t n)
{
	return t->in_slot || t->body || n >= 10 || (t->kind != PK_TRACEPOINT && t->kind != PK_FUNC_ENTRY)
		   ? NUMBER
		   : dt_tr_trusted(t, 1 + n);
}

/* The error of a system call, on its return: -4095..-1 means one. */
/*
 * The kernel's own numbers of an interrupted system call (ERESTARTSYS 512, ERESTARTNOINTR 513, ERESTARTNOHAND 514,
 * ERESTART_RESTARTBLOCK 516) never reach the program: it sees EINTR, unless the call is restarted.
 */
#define ERESTART_FIRST 512
#define ERESTART_LAST  516

void dt_tr_error_number(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t none = dt_code_label(c), done = dt_code_label(c);

	if (t->kind != PK_RETURN) {
		movi(c, R0, 0);
		return;
	}
	if (t->body && !t->in_slot)
		dt_tr_arg(t, 1);
	else
		ld(c, 8, R0, R7, 8);
	jmpi(c, BPF_JSGE, R0, 0, none);
	jmpi(c, BPF_JSLT, R0, -4095, none);
	dt_code_insn(c, BPF_ALU64 | BPF_NEG, R0, 0, 0, 0);
	jmpi(c, BPF_JLT, R0, ERESTART_FIRST, done);
	jmpi(c, BPF_JGT, R0, ERESTART_LAST, done);
	movi(c, R0, EINTR);
	ja(c, done);
	dt_code_place(c, none);
	movi(c, R0, 0);
	dt_code_place(c, done);
}

/* ---- registers ---- */

bool dt_tr_has_regs(const dt_tr *t)
{
	return dt_kind_of(t->kind)->regs && !t->direct;
}

/* r0 = word n of the registers at `base` */
static void load_register(dt_code *c, int base, uint64_t n)
{
	const struct dt_arch_entry *entry = &dt_arch_host()->entry;

	if (n == entry->number && entry->number_size == 4) {
		ld(c, 4, R0, base, (int)n * 8);
		alui(c, BPF_LSH, R0, 32);
		alui(c, BPF_ARSH, R0, 32);
	} else {
		ld(c, 8, R0, base, (int)n * 8);
	}
}

void dt_tr_register(dt_tr *t, uint64_t n)
{
	bool clock = dt_kind_of(t->kind)->type == BPF_PROG_TYPE_PERF_EVENT;

	if (dt_tr_has_regs(t) && n < (clock ? dt_arch_host()->nclock_regs : dt_arch_host()->nregs))
		load_register(t->c, R7, n);
	else
		movi(t->c, R0, 0);
}

/* The thread's user registers, by index in struct pt_regs (lib/regs.d). A uprobe's context is
 * exactly that. On kernels without type information only system calls have them as well: both
 * tracepoints pass them. */
void dt_tr_user_register(dt_tr *t, uint64_t n)
{
	dt_code *c = t->c;

	if (n >= dt_arch_host()->nuregs) {
		dt_tr_here(t);
		movi(c, R0, 0);
		jmpi(c, BPF_JEQ, R0, 0, dt_tr_fault_label(t, DT_FLT_ILLOP));
	} else if (n >= PT_REGS_SIZE / 8) {
		movi(c, R0, 0);
	} else if (dt_kind_of(t->kind)->user_regs) {
		load_register(c, R7, n);
	} else if (dt_plan_can(t->plan, BTF)) {
		user_regs(t);
		load_register(c, R0, n);
	} else if (dt_kind_is_syscall(t->kind)) {
		ld(c, 8, R3, R7, 0);
		alui(c, BPF_ADD, R3, (int32_t)n * 8);
		dt_tr_peek(t, 8);
	} else {
		movi(c, R0, 0);
	}
}

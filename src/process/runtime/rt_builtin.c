/*
 * rt_builtin: built-in variables and subroutines in a target. What is not in available.def was refused when the engine
 * opened, and is a fault here.
 */
#include <sys/syscall.h>
#include <time.h>

#include "process/runtime/runtime.h"

static uint64_t clock_ns(clockid_t id)
{
	int (*in_process)(clockid_t, struct timespec *) = (int (*)(clockid_t, struct timespec *))(uintptr_t)dt_rt_anchor.clock;
	struct timespec t = {0};

	if (!in_process || in_process(id, &t) != 0)
		dt_rt_syscall(SYS_clock_gettime, id, (long)&t, 0, 0, 0, 0);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t dt_vm_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static uint64_t once(uint64_t *cache, clockid_t clock)
{
	if (!*cache)
		*cache = clock_ns(clock);
	return *cache;
}

static uint64_t ask(long number)
{
	return (uint64_t)(int32_t)dt_rt_syscall(number, 0, 0, 0, 0, 0, 0);
}

static uint64_t stack_pointer(const dt_vm *vm)
{
	return dt_rt_sp(dt_rt_slot_of(vm));
}

/* What the system call that has just been made has failed with. */
static uint64_t error_number(const dt_vm *vm)
{
	const struct dt_pe_slot *s = dt_rt_slot_of(vm);
	int64_t result = (int64_t)s->regs->word[dt_rt_anchor.shared->result - 1];

	return s->site->call == DT_PE_CALLED && result < 0 && result >= -4095 ? (uint64_t)-result : 0;
}

static uint64_t caller(dt_vm *vm)
{
	uint64_t frames[2] = {0};

	return dt_rt_stack(vm, frames, 2) == 2 ? frames[1] : 0;
}

static uint64_t stack_word(dt_vm *vm, uint32_t i)
{
	uint64_t at = stack_pointer(vm) + 8 + i * 8ull, word = 0; /* after the return address */

	return dt_vm_load_user(vm, at, &word, sizeof(word)) ? word : 0;
}

static uint64_t argument(dt_vm *vm, uint32_t i)
{
	const struct dt_pe_slot *s = dt_rt_slot_of(vm);

	if (i < 6 || (s->site && (s->site->prologue || s->site->is_return || s->site->samples || s->site->call)) || vm->fire != &s->e.firing[0])
		return vm->fire->args[i];
	return stack_word(vm, i - 6);
}

uint64_t dt_vm_builtin(dt_vm *vm, uint32_t id)
{
	dt_vm_firing *f = vm->fire;

	switch (id) {
	case DT_VAR_ARG0 ... DT_VAR_ARG9: return argument(vm, id - DT_VAR_ARG0);
	case DT_VAR_TIMESTAMP: return once(&f->timestamp, CLOCK_MONOTONIC);
	case DT_VAR_WALLTIMESTAMP: return once(&f->walltimestamp, CLOCK_REALTIME);
	case DT_VAR_VTIMESTAMP: return clock_ns(CLOCK_THREAD_CPUTIME_ID);
	case DT_VAR_ERRNO: return error_number(vm);
	case DT_VAR_EPID: return f->epid;
	case DT_VAR_ID: return f->probe->id;
	case DT_VAR_CPU: return f->cpu;
	case DT_VAR_PID: return (uint64_t)dt_rt_anchor.pid;
	case DT_VAR_UCALLER: return caller(vm);
	case DT_VAR_USTACKDEPTH: return dt_rt_stack(vm, NULL, DT_PE_DEPTH);
	case DT_VAR_TID: return dt_rt_slot_of(vm)->tid;
	case DT_VAR_PPID: return ask(SYS_getppid);
	case DT_VAR_UID: return (uint32_t)ask(SYS_geteuid);
	case DT_VAR_GID: return (uint32_t)ask(SYS_getegid);
	case DT_VAR_EXECNAME: return dt_vm_addr(dt_rt_anchor.shared->execname);
	case DT_VAR_PROBEPROV: return dt_vm_addr(f->probe->prov);
	case DT_VAR_PROBEMOD: return dt_vm_addr(f->probe->mod);
	case DT_VAR_PROBEFUNC: return dt_vm_addr(f->probe->func);
	case DT_VAR_PROBENAME: return dt_vm_addr(f->probe->name);
	default: return dt_vm_fault(vm, DT_FLT_ILLOP, 0);
	}
}

/* By their index in the kernel's struct pt_regs. */
static uint64_t user_register(const dt_vm *vm, uint64_t index)
{
	const struct dt_pe_shared *sh = dt_rt_anchor.shared;
	const struct dt_pe_slot *s = dt_rt_slot_of(vm);

	if (index == sh->pc)
		return dt_rt_pc(s);
	if (index == sh->sp)
		return stack_pointer(vm);
	return index < DT_PE_REGS && sh->reg[index] ? s->regs->word[sh->reg[index] - 1] : 0;
}

uint64_t dt_vm_builtin_array(dt_vm *vm, uint32_t id, uint64_t index)
{
	switch (id) {
	case DT_VAR_ARGS: return index < 10 ? argument(vm, (uint32_t)index) : 0;
	case DT_VAR_UREGS: return user_register(vm, index);
	default: return dt_vm_fault(vm, DT_FLT_ILLOP, 0);
	}
}

uint64_t dt_vm_call(dt_vm *vm, uint32_t subr, const dt_vm_arg *arg, uint32_t argc)
{
	switch (subr) {
#define DT_PE_SUBR(sym) case DT_SUBR_##sym: return dt_vm_subr_##sym(vm, arg, argc);
#include "process/available.def"
	default: return dt_vm_fault(vm, DT_FLT_ILLOP, 0);
	}
}

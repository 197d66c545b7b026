/*
 * rt_life: what the process does with itself, as proc probes see it: threads that begin and end, programs that are run. All of it
 * is known where system calls are made. A child of vfork() makes some in this memory: those are not of this process.
 */
#include <sched.h>
#include <sys/syscall.h>

#include "process/runtime/runtime.h"

static void fire(struct dt_pe_slot *s, enum dt_attach_inside what, uint64_t arg0)
{
	const struct dt_pe_list *list = &dt_rt_anchor.shared->life[what];

	if (!list->n || s->e.exiting)
		return;
	dt_rt_begin(s);
	s->e.firing[0].args[0] = arg0;
	dt_rt_run(s, list);
}

static uint64_t argument(const struct dt_pe_frame *frame, uint32_t i)
{
	return frame->word[dt_rt_anchor.shared->call_arg[i] - 1];
}

static void exec(struct dt_pe_slot *s, uint64_t path)
{
	struct dt_pe_shared *sh = dt_rt_anchor.shared;
	const dt_vm_arg arg = {.value = path};

	if (sh->life[DT_IN_EXEC].n) {
		dt_rt_begin(s);
		s->e.firing[0].args[0] = dt_vm_call(&s->e.vm, DT_SUBR_COPYINSTR, &arg, 1);
		dt_rt_run(s, &sh->life[DT_IN_EXEC]);
	}
	__atomic_add_fetch(&sh->execs, 1, __ATOMIC_SEQ_CST);
	if (sh->life[DT_IN_EXEC_SUCCESS].n)
		dt_rt_wake();
}

static void exec_failed(struct dt_pe_slot *s, uint64_t error)
{
	__atomic_add_fetch(&dt_rt_anchor.shared->execs_failed, 1, __ATOMIC_SEQ_CST);
	fire(s, DT_IN_EXEC_FAILURE, error);
}

/* clone3() has its flags in memory, at the beginning of its argument. */
static void created(struct dt_pe_slot *s, uint64_t number, const struct dt_pe_frame *frame)
{
	uint64_t flags = number == SYS_clone || number == SYS_clone3 ? argument(frame, 0) : 0;

	if (number == SYS_clone3 && !dt_vm_load_user(&s->e.vm, flags, &flags, sizeof(flags)))
		return;
	fire(s, flags & CLONE_THREAD ? DT_IN_LWP_CREATE : DT_IN_CREATE, 0);
}

static void before(struct dt_pe_slot *s, uint64_t number, const struct dt_pe_frame *frame)
{
	struct dt_pe_shared *sh = dt_rt_anchor.shared;

	switch (number) {
	case SYS_execve: exec(s, argument(frame, 0)); break;
	case SYS_execveat: exec(s, argument(frame, 1)); break;
	case SYS_exit: fire(s, DT_IN_LWP_EXIT, 0); break;
	case SYS_exit_group:
		fire(s, DT_IN_LWP_EXIT, 0);
		if (!__atomic_exchange_n(&sh->exited, 1, __ATOMIC_SEQ_CST))
			fire(s, DT_IN_EXIT, 1); /* CLD_EXITED */
		break;
	default: break;
	}
}

static bool is_one_of_these(uint64_t number)
{
	switch (number) {
	case SYS_execve:
	case SYS_execveat:
	case SYS_exit:
	case SYS_exit_group:
	case SYS_clone:
	case SYS_clone3:
#ifdef SYS_fork
	case SYS_fork:
	case SYS_vfork:
#endif
		return true;
	default: return false;
	}
}

void dt_rt_life(struct dt_pe_slot *s, const struct dt_pe_site *site, const struct dt_pe_frame *frame, uint64_t number)
{
	int64_t result = (int64_t)frame->word[dt_rt_anchor.shared->result - 1];

	if (!is_one_of_these(number) || dt_rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0) != dt_rt_anchor.pid)
		return;
	if (site->call == DT_PE_CALL)
		before(s, number, frame);
	else if (number == SYS_execve || number == SYS_execveat)
		exec_failed(s, (uint64_t)-result);
	else if (result == 0)
		fire(s, DT_IN_LWP_START, 0);
	else if (result > 0)
		created(s, number, frame);
}

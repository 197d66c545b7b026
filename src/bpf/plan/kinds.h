/*
 * kinds: the properties of each kind of probe: the program type, what the program may do, and where
 * its arguments are. One row per kind; attaching is in run/attach.c, by the same numbers.
 */
#ifndef DT_BPF_PLAN_KINDS_H
#define DT_BPF_PLAN_KINDS_H

#include <linux/bpf.h>

#include "probe/attach.h"

enum dt_probe_kind { /* shorter names; those up to PK_ERROR are of the tracer itself */
	PK_NONE = DT_AT_NONE,
	PK_BEGIN = DT_AT_BEGIN,
	PK_END = DT_AT_END,
	PK_ERROR = DT_AT_ERROR,
	PK_ENTRY = DT_AT_SYSCALL_ENTRY,
	PK_RETURN = DT_AT_SYSCALL_RETURN,
	PK_PROFILE = DT_AT_CLOCK,
	PK_TRACEPOINT = DT_AT_TRACEPOINT,
	PK_FUNC_ENTRY = DT_AT_FUNC_ENTRY,
	PK_FUNC_RETURN = DT_AT_FUNC_RETURN,
	PK_INSTRUCTION = DT_AT_INSTRUCTION,
	PK_UPROBE = DT_AT_UPROBE,
	PK_URETPROBE = DT_AT_URETPROBE,
	PK_PERF = DT_AT_PERF,
	PK_MAX = DT_AT_MAX
};

struct dt_kind_facts {
	const char *name;
	enum bpf_prog_type type;
	const char *tracepoint; /* if it is the same for all of them */
	/* How the program finds out which of its probes fired. */
	enum dt_kind_event {
		EVENT_ONE,    /* this kind has only one probe */
		EVENT_NUMBER, /* the number of the system call, an argument of the event */
		EVENT_SAVED,  /* the same, in the registers of the thread */
		EVENT_COOKIE, /* the attach cookie */
		EVENT_ROW,    /* the attach cookie is a row of the program's own table */
	} event;
	/* Where the event's own arguments are. */
	enum dt_kind_args {
		ARGS_NONE,
		ARGS_ERROR,		/* in the slot: what faulted */
		ARGS_SYSCALL,		/* registers of the system call */
		ARGS_SYSCALL_RESULT,	/* its result */
		ARGS_INTERRUPTED,	/* where the CPU was; for a clock also how late it is */
		ARGS_CONTEXT,		/* words of the context */
		ARGS_FUNCTION,		/* of a kernel function */
		ARGS_FUNCTION_RESULT,
		ARGS_USER,		/* of a function of a process */
		ARGS_USER_RESULT,
	} args;
	bool tracer;	     /* of the tracer itself: no stack, never missed */
	bool function;	     /* of a kernel function, which may be called directly */
	bool regs;	     /* its context is the registers at the probe (functions: unless called directly) */
	bool user_regs;	     /* and these are of the user's code */
	bool waits;	     /* its program may wait for user memory */
	bool in_turn;	     /* programs run in the order of attaching, and can end with a tail call of the next */
	bool interrupts_off; /* it may fire where the kernel cannot refill its memory pools */
};

const struct dt_kind_facts *dt_kind_of(enum dt_probe_kind kind);

static inline bool dt_kind_is_user(enum dt_probe_kind kind)
{
	return dt_kind_of(kind)->event == EVENT_ROW;
}
static inline bool dt_kind_is_syscall(enum dt_probe_kind kind)
{
	return dt_kind_of(kind)->event == EVENT_NUMBER || dt_kind_of(kind)->event == EVENT_SAVED;
}
static inline bool dt_kind_is_function(enum dt_probe_kind kind)
{
	return dt_kind_of(kind)->function;
}
static inline bool dt_kind_is_tracer(enum dt_probe_kind kind)
{
	return dt_kind_of(kind)->tracer;
}

#endif

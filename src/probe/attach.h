/*
 * attach: how a probe is attached: described by its provider, done by the engine.
 *
 * A probe is an event of the kernel (or of a process) with a name. The provider says which event; the
 * engine knows how to be called at it and how to read its arguments. A stable probe (proc, io, tcp
 * ..., and user static probes) is an event interpreted by a piece of D: a condition under which it
 * fires at all, and an expression for each of its arguments in terms of the event's own `args[]`,
 * `arg0` ..., `uregs[]`. They run once per firing before any clause (see doc/kernel-engine.md,
 * "prologues"), so that clauses are not affected.
 */
#ifndef DT_ATTACH_H
#define DT_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

enum dt_attach_kind {
	DT_AT_NONE,
	DT_AT_BEGIN,
	DT_AT_END,
	DT_AT_ERROR,
	DT_AT_SYSCALL_ENTRY, /* number */
	DT_AT_SYSCALL_RETURN,
	DT_AT_CLOCK,	   /* number: nanoseconds; one: on one CPU only */
	DT_AT_TRACEPOINT,  /* event */
	DT_AT_FUNC_ENTRY,  /* kernel function: event, module; number: index in dt_kfuncs, plus 1 (0: by name) */
	DT_AT_FUNC_RETURN, /* the same */
	DT_AT_INSTRUCTION, /* kernel function: event, module, offset */
	DT_AT_UPROBE,	   /* path, offset, ref_ctr, pid */
	DT_AT_URETPROBE,   /* the same */
	DT_AT_PERF,	   /* perf_type, number (its config), period, exclude_* */
	DT_AT_MAX
};

/* What the probe is in a process, for an engine that runs there and cannot attach it: events of the process itself. */
enum dt_attach_inside {
	DT_IN_NOTHING,
	DT_IN_START,
	DT_IN_LWP_START,
	DT_IN_CREATE,
	DT_IN_LWP_CREATE,
	DT_IN_LWP_EXIT,
	DT_IN_EXIT,
	DT_IN_EXEC,
	DT_IN_EXEC_SUCCESS,
	DT_IN_EXEC_FAILURE,
	DT_IN_MAX
};

#define DT_ATTACH_ARGS 10
#define DT_AT_ENTRY    (1u << 23) /* above what the stack pointer may have moved */
#define DT_AT_BEHIND   24 /* a shift */

/* What is computed at the event before clauses run, as D text. */
typedef struct dt_attach_text {
	const char *when;		 /* the probe fires only if this is not 0; NULL: always */
	const char *arg[DT_ATTACH_ARGS]; /* arg[i] NULL: 0 */
	uint32_t narg;			 /* 0: the event's own arguments */
} dt_attach_text;

typedef struct dt_attach {
	enum dt_attach_kind kind;
	const char *event;  /* tracepoint or kernel function */
	const char *module; /* of a kernel function; NULL: vmlinux */
	const char *path;   /* file to put a uprobe in, as this process can open it (/proc/PID/root/...) */
	uint64_t offset;    /* uprobes: in the file; instructions: in the function */
	uint64_t ref_ctr;   /* uprobes: offset in the file of the semaphore to count up; 0: none */
	uint32_t call;	    /* uprobes: distance to a nop after it that may be probed instead, and may become a call; 0: none */
	int pid;	    /* uprobes: only in this process; 0: in all */
	uint64_t number, period;
	uint32_t perf_type;
	bool one, exclude_user, exclude_kernel;
	enum dt_attach_inside inside; /* the same for all events of a probe */
	bool optional; /* kernel functions and instructions: matched by a pattern; skipped if the kernel refuses it */
	/* DT_AT_UPROBE at the entry of a function: number is how far the stack pointer is below the return address,
	 * DT_AT_ENTRY, and (DT_AT_BEHIND) how many bytes after its first instruction the probe is.
	 * DT_AT_URETPROBE: number is what arg0 is; the probe is at this instruction, a ret, and
	 * does not change the return address. */
	bool instruction;
	uint32_t pops; /* such a ret: bytes that it takes from the stack (dt_insn); 0: not known */
	const dt_attach_text *text; /* NULL: nothing is computed, the arguments are the event's own */
	/* Which raw argument of the tracepoint, plus 1, is the thread that the probe is about (pid, execname, curthread, self->);
	 * 0: the current one. sched:::on-cpu is about the thread that gets the CPU while the other one is still current. */
	uint32_t task_arg;
	const struct dt_attach *also; /* another event at which the same probe fires; NULL: no more */
} dt_attach;

#endif

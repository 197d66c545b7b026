/*
 * choose: which engine runs a program, and which one if that does not open.
 *
 * -x engine=vm is the interpreter, which fires BEGIN, END and ERROR and nothing else; engine=bpf is the kernel; engine=process is
 * the target process. auto uses the interpreter if that is enough: no other probe, nothing that only the kernel has (the current
 * task, registers, stacks, its memory); otherwise the kernel. If the user may not use BPF, or with option fast, it is the target
 * process, where all probes are in one (dt_engine_ops.takes). fast never changes what a program means: probes of system calls and
 * of profile are those of all processes in the kernel, and a program of which a probe cannot be placed in the process is the
 * kernel's as a whole.
 */
#include <errno.h>

#include "kernel/privilege.h"
#include "session/session.h"

/* The first probe that the interpreter cannot fire, or NULL. */
static const dt_probe *kernel_probe(const dtrace_hdl_t *h)
{
	for (uint32_t i = 0; i < h->ecbs.n; i++)
		if (strcmp(h->ecbs.v[i].probe->prov, "dtrace") != 0)
			return h->ecbs.v[i].probe;
	return NULL;
}

static bool needs_kernel(const dtrace_hdl_t *h)
{
	if (kernel_probe(h) || h->grow)
		return true;
	for (uint32_t i = 0; i < h->ecbs.n; i++)
		if (dt_clause_needs_kernel(h->ecbs.v[i].clause))
			return true;
	return false;
}

int dt_engine_choose(dtrace_hdl_t *h)
{
	const dt_probe *k = kernel_probe(h);
	uint64_t choice = dt_opt(&h->opts, DT_O_ENGINE);

	h->engine_ops = choice == DT_ENGINE_PROCESS ? &dt_engine_process
			: choice == DT_ENGINE_BPF || (choice == DT_ENGINE_AUTO && needs_kernel(h)) ? &dt_engine_bpf
												   : &dt_engine_vm;
	if (h->engine_ops == &dt_engine_vm && k &&
	    dt_session_diag(h, DT_DIAG_NOTE, "the vm engine fires only dtrace:::BEGIN, END and ERROR") < 0)
		return -1;
	if (h->fleet) {
		dt_fleet_set_inner(h->fleet, h->engine_ops);
		h->engine_ops = &dt_engine_fleet;
	}
	return 0;
}

/* ---- the kernel or the target process ---- */

struct choice {
	bool open;    /* it is ours: the user has not named an engine, and the program needs one that attaches */
	bool takes;   /* the target process can run it ... */
	bool narrows; /* ... but probes that are of all processes are of this one only */
};

static struct choice find_choice(const dtrace_hdl_t *h, const struct dt_engine_env *env)
{
	struct choice c = {.open = dt_opt(&h->opts, DT_O_ENGINE) == DT_ENGINE_AUTO && h->engine_ops == &dt_engine_bpf};

	c.takes = c.open && dt_engine_process.takes(env, &c.narrows);
	return c;
}

static int remark(dtrace_hdl_t *h, const char *fmt, const char *text)
{
	char note[sizeof(h->err.text) + 128];

	snprintf(note, sizeof(note), fmt, text);
	return dt_session_diag(h, DT_DIAG_NOTE, note) < 0 ? dt_session_err(h, EDT_DIRABORT, NULL) : 0;
}

static int open_this(dtrace_hdl_t *h, struct dt_engine_env *env, const struct dt_engine_ops *ops)
{
	h->engine_ops = ops;
	dt_session_debug(h, "engine %s, %u clauses on probes", ops->name, env->necbs);
	dt_grow_open(h);
	memset(&h->err, 0, sizeof(h->err));
	h->engine = ops->open(env, &h->err);
	return h->engine ? 0 : -1;
}

/* Neither engine opens: what each of them says. Advice comes last. */
static int fail(dtrace_hdl_t *h, const char *kernel)
{
	dt_error was = h->err;
	char advice[sizeof(was.text)];

	dt_privilege_advice(advice, sizeof(advice));
	dt_err(&h->err, was.code, "%s; through the kernel: %s", was.text, kernel ? kernel : advice);
	return dt_session_fail(h);
}

/* The kernel refuses it, and so does the user's privilege. */
static int fail_in_kernel(dtrace_hdl_t *h, const struct choice *c)
{
	dt_error was = h->err;

	if (was.code == EPERM && c->open && !dt_privilege_to_trace())
		dt_err(&h->err, was.code,
		       "%s; without them, -x engine=process traces functions, static probes and system calls of your own processes, by -c or -p",
		       was.text);
	return dt_session_fail(h);
}

static int open_inside(dtrace_hdl_t *h, struct dt_engine_env *env, const struct choice *c, const char *kernel)
{
	if (open_this(h, env, &dt_engine_process) < 0)
		return fail(h, kernel);
	return c->narrows ? remark(h, "%s", "without privilege for the kernel, probes of syscall, proc and profile fire in the target process only") : 0;
}

int dt_engine_open(dtrace_hdl_t *h, struct dt_engine_env *env)
{
	struct choice c = find_choice(h, env);
	bool may = dt_privilege_to_trace(), fast = c.open && dt_opt(&h->opts, DT_O_FAST);
	dt_error was;

	if (c.takes && !may)
		return open_inside(h, env, &c, NULL);
	if (fast && c.takes && !c.narrows) {
		env->whole = true;
		if (open_this(h, env, &dt_engine_process) == 0)
			return 0;
		env->whole = false;
		was = h->err;
		if (remark(h, "option fast: the kernel runs the program: %s", was.text) < 0)
			return -1;
	} else if (fast && remark(h, "option fast: the kernel runs the program: %s", "not all probes are in one target process") < 0) {
		return -1;
	}
	if (open_this(h, env, c.open ? &dt_engine_bpf : h->engine_ops) == 0)
		return 0;
	was = h->err;
	return was.code == EPERM && c.takes ? open_inside(h, env, &c, was.text) : fail_in_kernel(h, &c);
}

/*
 * pe_check: what the engine can run: available.def, and probes in one process.
 */
#include <ctype.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "process/process.h"
#include "proc/control.h"

static int refuse(dt_error *err, const char *what)
{
	return dt_err(err, EDT_NOPROBE, "-x engine=process: %s", what);
}

bool dt_pe_is_available(void)
{
	return dt_pe_runtime_size >= DT_PE_ANCHOR_SIZE; /* else none was made: Makefile */
}

static const char *missing_subr(uint32_t id)
{
	const struct dt_subr_desc *d;

	switch (id) {
#define DT_PE_SUBR(sym) case DT_SUBR_##sym: return NULL;
#include "process/available.def"
	default: break;
	}
	if (id >= DT_CALL_FUNCTION)
		return NULL;
	d = dt_subr_find(id);
	return d && d->name ? d->name : "a subroutine";
}

static const char *missing_var(uint32_t id)
{
	const struct dt_builtin_var_desc *d;

	switch (id) {
#define DT_PE_VAR(sym) case DT_VAR_##sym: return NULL;
#include "process/available.def"
	default: break;
	}
	d = dt_builtin_var_find(id);
	return d ? d->name : "a variable";
}

static int check_difo(const dt_difo *d, dt_error *err)
{
	for (uint32_t i = 0; i < d->len; i++) {
		uint32_t op = DT_I_OP(d->text[i]), index = DT_I_INDEX(d->text[i]);
		const char *subr = op == DT_OP_CALL ? missing_subr(index) : NULL;
		const char *var = op == DT_OP_LDGS && index < DT_VAR_USER_MIN ? missing_var(index)
				  : op == DT_OP_LDGA			     ? missing_var(DT_I_R1(d->text[i]))
									     : NULL;

		if (subr)
			return dt_err(err, EDT_NOPROBE, "-x engine=process: %s() is not available", subr);
		if (var)
			return dt_err(err, EDT_NOPROBE, "-x engine=process: variable %s is not available", var);
	}
	return 0;
}

static bool reads_args(const dt_clause *c)
{
	for (uint32_t var = DT_VAR_ARG0; var <= DT_VAR_ARG9; var++)
		if (dt_clause_reads(c, var))
			return true;
	return dt_clause_reads(c, DT_VAR_ARGS);
}

static int check_clause(const struct dt_vm_ecb *x, dt_error *err)
{
	const dt_clause *c = x->ecb->clause;

	DT_EACH_DIFO(it, c)
		if (check_difo(it.difo, err) < 0)
			return -1;
	for (uint32_t i = 0; i < c->nactions; i++) {
		const struct dt_action_plan *p = &x->record.actions[i];
		bool refused = p->payload == DT_PAYLOAD_STACK || p->payload == DT_PAYLOAD_IMMSTACK || p->payload == DT_PAYLOAD_SYM ||
			       p->payload == DT_PAYLOAD_PACKET;

		switch (p->effect) {
		case DT_EFFECT_STOP: refused = true; break;
		default: break;
		}
		if (refused)
			return dt_err(err, EDT_NOPROBE, "-x engine=process: %s() is not available", dt_act_name(c->actions[i].kind));
		if (p->role == DT_ROLE_AGG && p->agg->nkeys > DT_PE_KEYS_MAX)
			return refuse(err, "an aggregation has too many keys");
	}
	return 0;
}

int dt_pe_check_options(const dt_pe *p, dt_error *err)
{
	if (!dt_pe_is_available())
		return refuse(err, "it is not available on this CPU");
	if (dt_opt(p->opts, DT_O_FOLLOW))
		return refuse(err, "option follow is not available");
	if (dt_opt(p->opts, DT_O_POLICY) == DT_POLICY_LOSSLESS)
		return refuse(err, "policy=lossless is not available");
	return 0;
}

/* The process of -c or -p; 0 with *err: there is none, or not one. */
static long only_process(const dt_pe *p, dt_error *err)
{
	const dt_proc *only = p->env->procs ? dt_procs_nth(p->env->procs, 0) : NULL;

	if (only && !dt_procs_nth(p->env->procs, 1)) { /* it has its libraries by then */
		only = dt_procs_need(p->env->procs, only->pid, err);
		return only ? only->pid : 0;
	}
	refuse(err, "profile, proc and syscall probes need a process, by -c or -p, and only one");
	return 0;
}

/* Is this probe of all processes, unless there is a target? */
static bool is_anywhere(const dt_ecb *ecb, const dt_event *x)
{
	return dt_pe_is_life(ecb) || x->at.kind == DT_AT_CLOCK || (dt_pe_is_call(ecb) && !x->prologue);
}

/* Where the events of a probe are: *pid is set, or the same. */
static int check_events(const dt_pe *p, const dt_ecb *ecb, long *pid, dt_error *err)
{
	for (uint32_t k = 0; k < ecb->events->n; k++) {
		const dt_attach *a = &ecb->events->v[k].at;
		bool anywhere = is_anywhere(ecb, &ecb->events->v[k]);
		long at = anywhere ? only_process(p, err) : a->pid;

		if (!at && anywhere)
			return -1;
		if (!at || (!anywhere && !a->path))
			return dt_err(err, EDT_NOPROBE, "-x engine=process: %s:%s:%s:%s is not a probe in one process", ecb->probe->prov,
				      ecb->probe->mod, ecb->probe->func, ecb->probe->name);
		if (*pid && *pid != at)
			return refuse(err, "probes in several processes are not available");
		*pid = at;
	}
	return 0;
}

/* A clause of tick runs here, while the target has the speculations. */
static int check_tick(const struct dt_vm_ecb *x, dt_error *err)
{
	for (uint32_t i = 0; i < x->ecb->clause->nactions; i++)
		switch (x->record.actions[i].effect) {
		case DT_EFFECT_COMMIT:
		case DT_EFFECT_DISCARD:
		case DT_EFFECT_SPECULATE: return refuse(err, "speculations are not available in clauses of tick");
		default: break;
		}
	return 0;
}

/* The process that a description names, for probes that may come; 0: none of ours. */
static long growing_pid(const struct dt_engine_env *env, const struct dt_engine_clause *c)
{
	const char *prov = c->clause->desc.prov, *at = prov + strlen(prov);
	long pid;

	while (at > prov && isdigit((unsigned char)at[-1]))
		at--;
	pid = c->kinds && at > prov && *at ? atol(at) : 0;
	return pid && env->procs && dt_procs_find(env->procs, pid) ? pid : 0;
}

static int check_growing(const dt_pe *p, long *pid, dt_error *err)
{
	for (uint32_t i = 0; i < p->env->nclauses; i++) {
		long at = growing_pid(p->env, &p->env->clauses[i]);

		if (at && *pid && *pid != at)
			return refuse(err, "probes in several processes are not available");
		*pid = at ? at : *pid;
	}
	return *pid && !dt_procs_need(p->env->procs, *pid, err) ? -1 : 0;
}

/* The kernel says more about some probes than can be known in the process. */
static int check_life(const struct dt_vm_ecb *x, dt_error *err)
{
	if (dt_pe_life_has_args(x->ecb) || !reads_args(x->ecb->clause))
		return 0;
	return dt_err(err, EDT_NOPROBE, "-x engine=process: the arguments of proc:::%s are not available", x->ecb->probe->name);
}

/* The process that probes are in, or may be: one. 0: there are no such probes. */
int dt_pe_check_probes(dt_pe *p, long *pid, dt_error *err)
{
	*pid = 0;
	for (uint32_t i = 0; i < p->host->necbs; i++) {
		const struct dt_vm_ecb *x = &p->host->ecbs[i];
		bool tick = dt_pe_is_clock(x->ecb) && !dt_pe_is_sampled(x->ecb);

		if (x->probe == DT_VM_BEGIN || x->probe == DT_VM_END)
			continue;
		if (x->probe == DT_VM_OTHER && !tick && x->ecb->events && check_events(p, x->ecb, pid, err) < 0)
			return -1;
		if (dt_pe_is_life(x->ecb) && check_life(x, err) < 0)
			return -1;
		if ((tick ? check_tick(x, err) : check_clause(x, err)) < 0)
			return -1;
	}
	return check_growing(p, pid, err);
}

/* Without the reasons. Are its events in one process? */
static bool takes_probe(const struct dt_engine_env *env, const dt_ecb *ecb, long *pid, bool *narrows)
{
	const dt_proc *only = env->procs ? dt_procs_nth(env->procs, 0) : NULL;

	for (uint32_t k = 0; k < ecb->events->n; k++) {
		const dt_attach *a = &ecb->events->v[k].at;
		bool anywhere = is_anywhere(ecb, &ecb->events->v[k]);
		long at = !anywhere				? a->path ? a->pid : 0
			  : only && !dt_procs_nth(env->procs, 1) ? only->pid
								: 0;

		if (!at || (*pid && *pid != at))
			return false;
		*pid = at;
		*narrows = *narrows || anywhere;
	}
	return true;
}

/* What runs in dtrace itself must not need the kernel: the interpreter would not notice. */
bool dt_pe_takes(const struct dt_engine_env *env, bool *narrows)
{
	bool ticks = false;
	long pid = 0;

	*narrows = false;
	if (!dt_pe_is_available())
		return false;
	for (uint32_t i = 0; i < env->necbs; i++) {
		const dt_ecb *ecb = &env->ecbs[i];
		bool tick = dt_pe_is_clock(ecb) && !dt_pe_is_sampled(ecb), here = tick || strcmp(ecb->probe->prov, "dtrace") == 0;

		ticks = ticks || tick;
		if (here ? dt_clause_needs_kernel(ecb->clause) : !takes_probe(env, ecb, &pid, narrows))
			return false;
	}
	for (uint32_t i = 0; i < env->nclauses; i++) {
		long at = growing_pid(env, &env->clauses[i]);

		if (at && pid && at != pid)
			return false;
		pid = at ? at : pid;
	}
	return pid || ticks;
}

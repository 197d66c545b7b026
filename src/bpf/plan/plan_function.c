/*
 * plan_function: how functions of the kernel are traced.
 *
 * There are three methods (attach_kernel.c): fentry for few probes, kprobe.multi for many, and
 * kprobes for the rest. The method is chosen here because code reads its arguments differently.
 * Probes with different methods are in different groups, hence in different programs.
 */
#include "bpf/plan/plan.h"

#define FEW	    16	 /* up to this many probes each may have its own program */
#define MAX_KPROBES 5000 /* each takes about a millisecond to create and another to release */

/* Does a clause on functions use registers? fentry has none. */
static bool wants_regs(const dt_plan *plan)
{
	for (uint32_t i = 0; i < plan->clauses.n; i++)
		if (plan->clauses.v[i].kinds & (1u << PK_FUNC_ENTRY | 1u << PK_FUNC_RETURN) &&
		    dt_clause_reads(plan->clauses.v[i].c, DT_VAR_REGS))
			return true;
	return false;
}

/* The kernel looks a function up by its name: there must be only one of that name. */
static bool is_unique(const dt_plan *plan, const char *name)
{
	dt_kfuncs *kf = plan->kfuncs;
	uint32_t it = 0, n;

	dt_kfuncs_all(kf, plan->types, &n);
	if (!dt_kfuncs_find(kf, NULL, name, &it))
		return false;
	it++;
	return !dt_kfuncs_find(kf, NULL, name, &it);
}

static bool takes_direct_call(const dt_plan *plan, const struct dt_plan_probe *x)
{
	return is_unique(plan, x->at.event) &&
	       dt_ktrace_takes_fentry(plan->types, x->at.module, x->at.event,
				      x->kind == PK_FUNC_RETURN);
}

int dt_plan_functions(dt_plan *plan, dt_error *err)
{
	uint32_t functions = plan->nevents[PK_FUNC_ENTRY] + plan->nevents[PK_FUNC_RETURN],
		 kprobes = 0;
	const struct dt_ktrace *k = &plan->features.functions;
	bool direct;

	if (!functions && !plan->nevents[PK_INSTRUCTION])
		return 0;
	direct = k->fentry && functions <= FEW && !wants_regs(plan);
	for (uint32_t i = 0; i < plan->probes.n; i++) {
		struct dt_plan_probe *x = &plan->probes.v[i];

		if (x->kind == PK_INSTRUCTION && !k->kprobe)
			return dt_err(err, EDT_NOPROBE, "%s",
				      *k->why
					  ? k->why
					  : "this kernel refuses kprobes, which instructions need");
		kprobes += x->kind == PK_INSTRUCTION;
		if (!dt_kind_is_function(x->kind))
			continue;
		if (*k->why)
			return dt_err(err, EDT_NOPROBE, "%s", k->why);
		if (direct && takes_direct_call(plan, x)) {
			x->group.how = HOW_FENTRY;
		} else if (k->multi) {
			x->group.how = HOW_MULTI;
		} else if (k->kprobe) {
			x->group.how = HOW_KPROBE;
			kprobes++;
		} else {
			return dt_err(err, EDT_NOPROBE,
				      "cannot enable %s:%s:%s:%s: this kernel refuses kprobes, so "
				      "at most %d functions can be traced at once, "
				      "and only those that its type information has",
				      x->probe->prov, x->probe->mod, x->probe->func, x->probe->name,
				      FEW);
		}
	}
	if (kprobes > MAX_KPROBES)
		return dt_err(
		    err, EDT_NOPROBE, "%u probes are too many: at most %d, because %s; name fewer",
		    kprobes, MAX_KPROBES,
		    k->multi ? "the kernel probes each instruction on its own"
			     : "this kernel probes each function on its own. It is built "
			       "without kprobe.multi, which takes any number of functions "
			       "at once (CONFIG_FPROBE)");
	return 0;
}

/*
 * fbt: function boundary tracing. Entry and return of (nearly) every function of the kernel and its
 * modules, as fbt:<module>:<function>:entry and return; the module of the kernel itself is vmlinux.
 *
 * kernel/kfunc.c lists the functions; bpf/run/attach_kernel.c traces them. Argument types come from
 * BTF; a function that BTF does not describe can still be traced, with arg0, arg1 ...
 *
 * Ids follow the kernel's own order: base + 2 * index, and one more for return. dt_probe.data is
 * the index; a bit says that this function was named explicitly, so that it is an error if the
 * kernel refuses it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kernel/ktrace.h"
#include "probe/providers/providers.h"

#define NAMED	(1ull << 63)
#define VMLINUX "vmlinux"

/* What the kernel supports, probed once per session. */
static const struct dt_ktrace *ktrace_of(const dt_provider *p, dt_probes *ps)
{
	void **kept = dt_probes_keep(ps, p, free);

	if (!*kept) {
		*kept = dt_xcalloc(1, sizeof(struct dt_ktrace));
		dt_ktrace_probe(*kept, dt_probes_types(ps));
	}
	return *kept;
}

static void add(const dt_provider *p, dt_probes *ps, const dt_kfunc *f, uint32_t index,
		const dt_probedesc *d, bool named)
{
	static const char *const names[] = {"entry", "return"};

	if (2 * index + 1 >= p->id_count || f->refused)
		return;
	for (uint32_t k = 0; k < 2; k++) {
		dt_probe *pr;

		if (!d->id && *d->name && !dt_glob_match(d->name, names[k]))
			continue;
		if (k == 1 && dt_kfunc_is_noreturn(f->name))
			continue;
		pr = dt_probes_add(ps, p, p->id_base + 2 * index + k, "fbt", f->module, f->name,
				   names[k], index);
		if (named)
			pr->data |= NAMED;
	}
}

/* ---- when there is no such probe ---- */

static bool has_module(const dt_kfunc *all, uint32_t n, const char *module)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(all[i].module, module) == 0)
			return true;
	return false;
}

static void suggest(const dt_kfunc *all, uint32_t n, const char *name, char *why, size_t whylen)
{
	const char **names = dt_xcalloc(n + 1, sizeof(*names));

	for (uint32_t i = 0; i < n; i++)
		names[i] = all[i].name;
	snprintf(why, whylen, "the kernel has no function \"%s\"%s", name, dt_did_you_mean(name, names, n).text);
	free(names);
}

void dt_fbt_explain(dt_probes *ps, const dt_probedesc *d, char *why, size_t whylen)
{
	dt_kfuncs *kf = dt_probes_kfuncs(ps);
	const char *module = dt_kfunc_module(d->mod);
	uint32_t it = 0, n;
	const dt_kfunc *all = dt_kfuncs_all(kf, dt_probes_types(ps), &n);
	uint64_t addr;

	if (*module && !dt_glob_is_pattern(module) && !has_module(all, n, module))
		snprintf(why, whylen,
			 "no module \"%s\" is loaded, or it has no function that can be traced",
			 module);
	else if (dt_glob_is_pattern(d->func) || !*d->func)
		return;
	else if (dt_kfuncs_find(kf, module, d->func, &it) && all[it].refused)
		snprintf(why, whylen, "function %s cannot be traced: %s", d->func, all[it].refused);
	else if (it < n && dt_glob_match(*d->name ? d->name : "*", "return"))
		snprintf(why, whylen, "function %s never returns", d->func);
	else if (it = 0, dt_kfuncs_find(kf, NULL, d->func, &it))
		snprintf(why, whylen, "function %s is in module %s, not %s", d->func,
			 all[it].module, module);
	else if (dt_ksym_by_name(dt_probes_ksyms(ps), module, d->func, &addr))
		snprintf(why, whylen,
			 "function %s cannot be traced: the kernel was built without a place for "
			 "probes in it (notrace)",
			 d->func);
	else
		suggest(all, n, d->func, why, whylen);
}

/* ---- the provider ---- */

/* Most descriptions (BEGIN, tick-1s) end here: the list of functions is long. */
static bool possible(const dt_probedesc *d, char *why, size_t whylen)
{
	if (!*d->name || dt_glob_match(d->name, "entry") || dt_glob_match(d->name, "return"))
		return true;
	if (*d->prov && !dt_glob_is_pattern(d->prov))
		snprintf(why, whylen,
			 "functions have the probes entry and return, not \"%s\"; instructions are "
			 "kinst's",
			 d->name);
	return false;
}

static bool matches(const dt_kfunc *f, const char *module, const char *func)
{
	return (!*module || dt_glob_match(module, f->module)) &&
	       (!*func || dt_glob_match(func, f->name));
}

static int discover(const dt_provider *p, dt_probes *ps, const dt_probedesc *d, bool listing,
		    char *why, size_t whylen)
{
	const char *module = dt_kfunc_module(d->mod);
	bool exact = *d->func && !dt_glob_is_pattern(d->func);
	uint32_t n, it = 0, before = dt_probes_count(ps, p);
	const struct dt_ktrace *k;
	const dt_kfunc *all;

	(void)listing;
	if (!d->id && !possible(d, why, whylen))
		return 0;
	k = ktrace_of(p, ps);
	if (*k->why) {
		if (*d->prov)
			snprintf(why, whylen, "%s", k->why);
		return 0;
	}
	all = dt_kfuncs_all(dt_probes_kfuncs(ps), dt_probes_types(ps), &n);
	if (d->id) {
		it = (d->id - p->id_base) / 2;
		if (it < n)
			add(p, ps, &all[it], it, d, true);
		return 0;
	}
	if (n == 0 && *d->prov)
		snprintf(why, whylen,
			 "the kernel does not say which functions can be traced "
			 "(available_filter_functions in tracefs)");
	for (; exact &&
	       dt_kfuncs_find(dt_probes_kfuncs(ps),
			      *module && !dt_glob_is_pattern(module) ? module : NULL, d->func, &it);
	     it++)
		if (matches(&all[it], module, ""))
			add(p, ps, &all[it], it, d, true);
	for (; !exact && it < n; it++)
		if (!all[it].refused && matches(&all[it], module, d->func))
			add(p, ps, &all[it], it, d, false);
	if (n && *d->prov && dt_probes_count(ps, p) == before)
		dt_fbt_explain(ps, d, why, whylen);
	return 0;
}

static int args(const dt_provider *p, dt_probes *ps, const dt_probe *pr, const char **native,
		const char **xlated, int *mapping, int max)
{
	dt_types *ts = dt_probes_types(ps);
	dt_type *f = ts ? dt_type_of_symbol(ts, pr->mod, pr->func) : NULL;
	int n = 0;

	(void)xlated, (void)mapping;
	if (!f || f->kind != DT_K_FUNCTION)
		return -1;
	dt_type_complete(ts, f);
	if ((pr->id - p->id_base) & 1) {
		native[n++] = "int"; /* where it returns: always 0 */
		if (!dt_type_is_void(f->ref))
			native[n++] = dt_type_name(ts, f->ref);
		return n;
	}
	for (uint32_t i = 0; i < f->nparams && n < max; i++)
		native[n++] = dt_type_name(ts, f->params[i]);
	return n;
}

static int attach(const dt_provider *p, dt_probes *ps, const dt_probe *pr, dt_attach *at, char *why,
		  size_t whylen)
{
	(void)ps, (void)why, (void)whylen;
	at->kind = (pr->id - p->id_base) & 1 ? DT_AT_FUNC_RETURN : DT_AT_FUNC_ENTRY;
	at->event = pr->func;
	at->module = strcmp(pr->mod, VMLINUX) == 0 ? NULL : pr->mod;
	at->number = (pr->data & ~NAMED) + 1;
	at->optional = !(pr->data & NAMED);
	return 0;
}

/* For stable probes based on a function. Their text needs its types. */
bool dt_fbt_has(dt_probes *ps, const char *module, const char *func, bool on_return)
{
	dt_types *ts = dt_probes_types(ps);
	uint32_t n, it = 0;
	const dt_kfunc *all;

	if (*ktrace_of(&dt_provider_fbt, ps)->why || !ts || !dt_type_of_symbol(ts, module, func))
		return false;
	all = dt_kfuncs_all(dt_probes_kfuncs(ps), ts, &n);
	return dt_kfuncs_find(dt_probes_kfuncs(ps), module ? module : VMLINUX, func, &it) &&
	       !all[it].refused && !(on_return && dt_kfunc_is_noreturn(func));
}

void dt_fbt_missing(dt_probes *ps, const char *module, const char *func, bool on_return, char *why,
		    size_t whylen)
{
	const struct dt_ktrace *k = ktrace_of(&dt_provider_fbt, ps);
	dt_probedesc d = {.mod = module ? module : VMLINUX,
			  .func = func,
			  .name = on_return ? "return" : "entry",
			  .prov = "fbt"};

	snprintf(why, whylen, "%s", k->why);
	if (!*why)
		dt_fbt_explain(ps, &d, why, whylen);
}

const dt_provider dt_provider_fbt = {
    .name = "fbt",
    DT_PROVIDER_IDS(fbt),
    .attrs = {DT_ATTR(EVOLVING, EVOLVING, ISA), DT_ATTR(PRIVATE, PRIVATE, UNKNOWN),
	      DT_ATTR(PRIVATE, PRIVATE, UNKNOWN), DT_ATTR(EVOLVING, EVOLVING, ISA),
	      DT_ATTR(PRIVATE, PRIVATE, ISA)},
    .discover = discover,
    .args = args,
    .attach = attach,
};

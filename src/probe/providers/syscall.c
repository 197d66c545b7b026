/*
 * syscall: entry and return of every system call.
 *
 * Ids follow the call's number, so they are the same on every kernel: base + 2 * number, and one
 * more for return. dt_probe.data is the number. Arguments are typed from the table of src/arch; a
 * return has the value twice, as DTrace does.
 */
#include <stdio.h>

#include "arch/arch.h"
#include "probe/providers/providers.h"

#define MODULE "vmlinux"

static void add_call(const dt_provider *p, dt_probes *ps, const dt_syscall *call)
{
	uint32_t id = p->id_base + 2 * call->nr;

	if (2 * call->nr + 1 >= p->id_count)
		return;
	dt_probes_add(ps, p, id, "syscall", MODULE, call->name, "entry", call->nr);
	dt_probes_add(ps, p, id + 1, "syscall", MODULE, call->name, "return", call->nr);
}

static void explain_call(const char *name, char *why, size_t whylen)
{
	const char *names[1024], *near;
	uint32_t n = 0;

	for (; n < dt_nsyscalls && n < DT_NELEM(names); n++)
		names[n] = dt_syscalls[n].name;
	near = dt_nearest(name, names, n);
	if (near)
		snprintf(why, whylen, "no system call \"%s\"; did you mean \"%s\"?", name, near);
	else
		snprintf(why, whylen, "no system call \"%s\"", name);
}

/* Can any system call match, whatever its name? Most descriptions (BEGIN, tick-1s) end here. */
static bool possible(const dt_probedesc *d, char *why, size_t whylen)
{
	bool name =
	    !*d->name || dt_glob_match(d->name, "entry") || dt_glob_match(d->name, "return");
	bool module = !*d->mod || dt_glob_match(d->mod, MODULE);

	if (*d->prov && !name)
		snprintf(why, whylen, "system calls have the probes entry and return, not \"%s\"",
			 d->name);
	else if (*d->prov && !module)
		snprintf(why, whylen, "system calls are in module " MODULE ", not \"%s\"", d->mod);
	return name && module;
}

static int discover(const dt_provider *p, dt_probes *ps, const dt_probedesc *d, bool listing,
		    char *why, size_t whylen)
{
	const dt_syscall *call;

	(void)listing;
	if (d->id) {
		call = dt_syscall_by_nr((d->id - p->id_base) / 2);
		if (call)
			add_call(p, ps, call);
		return 0;
	}
	if (!possible(d, why, whylen))
		return 0;
	if (*d->func && !dt_glob_is_pattern(d->func)) {
		call = dt_syscall_by_name(d->func);
		if (call)
			add_call(p, ps, call);
		else if (*d->prov)
			explain_call(d->func, why, whylen);
	} else {
		for (uint32_t i = 0; i < dt_nsyscalls; i++)
			if (!*d->func || dt_glob_match(d->func, dt_syscalls[i].name))
				add_call(p, ps, &dt_syscalls[i]);
	}
	return 0;
}

static int args(const dt_provider *p, dt_probes *ps, const dt_probe *pr, const char **native,
		const char **xlated, int *mapping, int max)
{
	const dt_syscall *call = dt_syscall_by_nr((uint32_t)pr->data);
	const char *const *types;
	int n;

	(void)ps, (void)xlated, (void)mapping;
	if ((pr->id - p->id_base) & 1) {
		native[0] = native[1] = "int64_t";
		return 2;
	}
	n = call ? dt_syscall_args(call, &types) : -1;
	for (int i = 0; i < n && i < max; i++)
		native[i] = types[i];
	return n < max ? n : max;
}

static int attach(const dt_provider *p, dt_probes *ps, const dt_probe *pr, dt_attach *at, char *why,
		  size_t whylen)
{
	(void)ps, (void)why, (void)whylen;
	at->kind = (pr->id - p->id_base) & 1 ? DT_AT_SYSCALL_RETURN : DT_AT_SYSCALL_ENTRY;
	at->number = pr->data;
	return 0;
}

const dt_provider dt_provider_syscall = {
    .name = "syscall",
    .id_base = 10000,
    .id_count = 10000,
    .attrs = {DT_ATTR(EVOLVING, EVOLVING, COMMON), DT_ATTR(PRIVATE, PRIVATE, UNKNOWN),
	      DT_ATTR(PRIVATE, PRIVATE, ISA), DT_ATTR(EVOLVING, EVOLVING, COMMON),
	      DT_ATTR(PRIVATE, PRIVATE, ISA)},
    .discover = discover,
    .args = args,
    .attach = attach,
};

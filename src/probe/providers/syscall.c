/*
 * syscall: entry and return of every system call.
 *
 * The calls of 64-bit programs are in module vmlinux, those of 32-bit programs (if the kernel runs any) in module
 * linux32: a description without a module means both.
 *
 * Ids follow the call's number, so they are the same on every kernel: base + 2 * number, and one
 * more for return. dt_probe.data is the number. Arguments are typed from the tables of src/arch; a
 * return has the value twice, as DTrace does.
 */
#include <stdio.h>

#include "arch/syscalls.h"
#include "probe/providers/providers.h"

#define MODULE	      "vmlinux"
#define COMPAT_MODULE "linux32"

/* Other names of a call: in the C library, or in the kernel's tracepoints. */
static const char *const aliases[][2] = {
    {"fstatat", "newfstatat"}, {"newstat", "stat"},   {"newfstat", "fstat"},	  {"newlstat", "lstat"},
    {"newuname", "uname"},     {"pread", "pread64"},  {"pwrite", "pwrite64"},	  {"sendfile64", "sendfile"},
    {"umount", "umount2"},     {"sigaction", "rt_sigaction"},
};

/* Some of these are separate calls in 32-bit programs. */
static const char *real_name(const char *name, bool compat)
{
	for (size_t i = 0; i < DT_NELEM(aliases); i++)
		if (strcmp(aliases[i][0], name) == 0 && !(compat && dt_compat_syscall_by_name(name)))
			return aliases[i][1];
	return name;
}

static bool matches(const dt_provider *p, dt_probes *ps, const dt_probe *pr, const dt_probedesc *d)
{
	dt_probedesc own = *d;

	(void)p, (void)ps;
	own.func = real_name(d->func, pr->data >= DT_SYSCALL_COMPAT);
	return dt_probe_fits(pr, &own);
}

static void add_call(const dt_provider *p, dt_probes *ps, const dt_syscall *call)
{
	const char *module = call && call->nr < DT_SYSCALL_COMPAT ? MODULE : COMPAT_MODULE;

	if (!call || 2 * call->nr + 1 >= p->id_count)
		return;
	for (uint32_t i = 0; i < 2; i++)
		dt_probes_add(ps, p, p->id_base + 2 * call->nr + i, "syscall", module, call->name,
			      i ? "return" : "entry", call->nr);
}

static void add_calls(const dt_provider *p, dt_probes *ps, const dt_syscall *calls, uint32_t n,
		      const char *pattern)
{
	for (uint32_t i = 0; i < n; i++)
		if (!*pattern || dt_glob_match(pattern, calls[i].name))
			add_call(p, ps, &calls[i]);
}

static void explain_call(const char *name, char *why, size_t whylen)
{
	const struct dt_arch_calls *all = dt_syscalls();
	const char *names[1024];
	uint32_t n = 0;

	for (; n < all->n && n < DT_NELEM(names); n++)
		names[n] = all->v[n].name;
	snprintf(why, whylen, "no system call \"%s\"%s", name, dt_did_you_mean(name, names, n).text);
}

/* Which calls can match, whatever their names? Most descriptions (BEGIN, tick-1s) end here. */
static void possible(const dt_probedesc *d, bool *native, bool *compat, char *why, size_t whylen)
{
	bool name =
	    !*d->name || dt_glob_match(d->name, "entry") || dt_glob_match(d->name, "return");

	*native = name && (!*d->mod || dt_glob_match(d->mod, MODULE));
	*compat = name && (!*d->mod || dt_glob_match(d->mod, COMPAT_MODULE)) && dt_has_compat_syscalls();
	if (*native || *compat || !*d->prov)
		return;
	if (!name)
		snprintf(why, whylen, "system calls have the probes entry and return, not \"%s\"",
			 d->name);
	else if (dt_glob_match(d->mod, COMPAT_MODULE))
		snprintf(why, whylen, "this kernel does not run 32-bit programs");
	else
		snprintf(why, whylen,
			 "system calls are in module " MODULE " (32-bit programs: " COMPAT_MODULE
			 "), not \"%s\"", d->mod);
}

static int discover(const dt_provider *p, dt_probes *ps, const dt_probedesc *d, bool listing,
		    char *why, size_t whylen)
{
	const struct dt_arch_calls *all = dt_syscalls();
	const dt_syscall *call = NULL, *call32 = NULL;
	bool native, compat;

	(void)listing;
	if (d->id) {
		call = dt_syscall_by_nr((d->id - p->id_base) / 2);
		if (call && (call->nr < DT_SYSCALL_COMPAT || dt_has_compat_syscalls()))
			add_call(p, ps, call);
		return 0;
	}
	possible(d, &native, &compat, why, whylen);
	if (!*d->func || dt_glob_is_pattern(d->func)) {
		if (native)
			add_calls(p, ps, all->v, all->n, d->func);
		if (compat)
			add_calls(p, ps, all->compat, all->ncompat, d->func);
		return 0;
	}
	if (native)
		add_call(p, ps, call = dt_syscall_by_name(real_name(d->func, false)));
	if (compat)
		add_call(p, ps, call32 = dt_compat_syscall_by_name(real_name(d->func, true)));
	if ((native || compat) && !call && !call32 && *d->prov)
		explain_call(d->func, why, whylen);
	return 0;
}

static int args(const dt_provider *p, dt_probes *ps, const dt_probe *pr, const char **native,
		const char **xlated, int *mapping, int max)
{
	const dt_syscall *call = dt_syscall_by_nr((uint32_t)pr->data);
	const char *types[DT_SYSCALL_MAXARGS];
	int n;

	(void)ps, (void)xlated, (void)mapping;
	if ((pr->id - p->id_base) & 1) {
		native[0] = native[1] = "int64_t";
		return 2;
	}
	n = call ? dt_syscall_args(call, types) : -1;
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
    DT_PROVIDER_IDS(syscall),
    .attrs = {DT_ATTR(EVOLVING, EVOLVING, COMMON), DT_ATTR(PRIVATE, PRIVATE, UNKNOWN),
	      DT_ATTR(PRIVATE, PRIVATE, ISA), DT_ATTR(EVOLVING, EVOLVING, COMMON),
	      DT_ATTR(PRIVATE, PRIVATE, ISA)},
    .variants = true,
    .matches = matches,
    .discover = discover,
    .args = args,
    .attach = attach,
};

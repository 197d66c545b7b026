/*
 * pe_calls: probes of system calls: a jump before each instruction that makes one, in all code that the target has mapped, and
 * after it if returns are traced (places.c). The number is known when the probe fires.
 */
#include <stdlib.h>

#include "arch/arch.h"
#include "arch/syscalls.h"
#include "process/process.h"

bool dt_pe_is_call(const dt_ecb *ecb)
{
	return ecb->events && ecb->events->n && !dt_pe_is_life(ecb) &&
	       (ecb->events->v[0].at.kind == DT_AT_SYSCALL_ENTRY || ecb->events->v[0].at.kind == DT_AT_SYSCALL_RETURN);
}

static bool is_return(const dt_ecb *ecb)
{
	return ecb->events->v[0].at.kind == DT_AT_SYSCALL_RETURN;
}

static bool is_wanted(const dt_pe *p, bool *returns)
{
	bool any = false;

	*returns = false;
	for (uint32_t i = 0; i < p->host->necbs; i++)
		if (dt_pe_is_life(p->host->ecbs[i].ecb)) {
			any = *returns = true;
		} else if (dt_pe_is_call(p->host->ecbs[i].ecb)) {
			any = true;
			*returns = *returns || is_return(p->host->ecbs[i].ecb);
		}
	return any;
}

void dt_pe_calls_place(dt_pe *p, dt_error *remark)
{
	struct dt_pe_found found = {0};
	bool returns;

	if (!is_wanted(p, &returns))
		return;
	for (uint32_t i = 0; i < p->maps->n; i++)
		if (p->maps->v[i].exec && p->maps->v[i].kind == DT_MAP_FILE)
			dt_pe_place_calls(&p->places, p->files, &p->maps->v[i], returns, &found);
	if (found.halves)
		dt_err(remark, EDT_NOPROBE, "the process makes system calls at %u places: %u cannot be traced, %u only at the entry",
		       found.placed + found.missed, found.missed, found.halves);
	else if (found.missed)
		dt_err(remark, EDT_NOPROBE, "the process makes system calls at %u places: %u cannot be traced", found.placed + found.missed,
		       found.missed);
}

void dt_pe_calls_place_in(dt_pe *p, const dt_mapping *m)
{
	struct dt_pe_found found = {0};
	bool returns;

	if (is_wanted(p, &returns))
		dt_pe_place_calls(&p->places, p->files, m, returns, &found);
}

/* The clauses of a system call. */
static bool make_list(dt_pe *p, uint64_t number, bool after, struct dt_pe_calls *to)
{
	uint32_t n = 0;
	const struct dt_vm_ecb **list;

	for (uint32_t pass = 0; pass < 2; pass++) {
		list = pass ? dt_pe_alloc(&p->memory, n * sizeof(*list)) : NULL;
		if (pass && !list)
			return false;
		n = 0;
		for (uint32_t i = 0; i < p->host->necbs; i++) {
			const dt_ecb *ecb = p->host->ecbs[i].ecb;

			if (!dt_pe_is_call(ecb) || is_return(ecb) != after || ecb->events->v[0].at.number != number)
				continue;
			if (list)
				list[n] = &p->program.ecbs[i];
			n++;
		}
	}
	to->ecbs[after] = list;
	to->n[after] = n;
	return true;
}

bool dt_pe_calls_share(dt_pe *p)
{
	const dt_arch *a = dt_arch_host();
	struct dt_pe_calls *calls;
	uint64_t most = 0;
	bool ok = true;

	for (uint32_t i = 0; i < p->host->necbs; i++) {
		const dt_ecb *ecb = p->host->ecbs[i].ecb;

		if (dt_pe_is_call(ecb) && ecb->events->v[0].at.number < DT_SYSCALL_COMPAT && ecb->events->v[0].at.number >= most)
			most = ecb->events->v[0].at.number + 1;
	}
	p->shared->call_number = a->frame[a->call.result]; /* x86-64: the number is where the result will be */
	for (uint32_t i = 0; i < DT_NELEM(p->shared->call_arg); i++)
		p->shared->call_arg[i] = a->frame[a->entry.arg[i]];
	if (!most)
		return true;
	calls = dt_pe_alloc(&p->memory, most * sizeof(*calls));
	for (uint64_t i = 0; calls && i < most && ok; i++)
		ok = make_list(p, i, false, &calls[i]) && make_list(p, i, true, &calls[i]);
	p->shared->calls = calls;
	p->shared->ncalls = (uint32_t)most;
	return calls && ok;
}

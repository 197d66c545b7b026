/*
 * share: programs in memory that the target has mapped at the same address.
 *
 * What the interpreter looks at when a clause runs is copied there: clauses with their DIF, plans of records, probes, and the
 * variables of the program. Pointers that it does not follow stay behind.
 */
#include <stdlib.h>

#include "process/process.h"

void *dt_pe_alloc(struct dt_pe_memory *m, uint64_t n)
{
	uint8_t *p = m->base + m->used;

	n = dt_align_up(n ? n : 8, 8);
	if (n > m->size - m->used) {
		m->full = true;
		return NULL;
	}
	m->used += n;
	return p;
}

void *dt_pe_copy(struct dt_pe_memory *m, const void *p, uint64_t n)
{
	void *to = dt_pe_alloc(m, n);

	if (to && n)
		memcpy(to, p, n);
	return to;
}

static const char *copy_text(struct dt_pe_memory *m, const char *s)
{
	return dt_pe_copy(m, s ? s : "", s ? strlen(s) + 1 : 1);
}

static dt_difo *copy_difo(struct dt_pe_memory *m, const dt_difo *d)
{
	dt_difo *to = d ? dt_pe_alloc(m, sizeof(*to)) : NULL;

	if (!to)
		return NULL;
	*to = (dt_difo){.len = d->len, .intlen = d->intlen, .strlen = d->strlen, .rtype = d->rtype, .nfunctions = d->nfunctions};
	to->text = dt_pe_copy(m, d->text, d->len * sizeof(*d->text));
	to->inttab = dt_pe_copy(m, d->inttab, d->intlen * sizeof(*d->inttab));
	to->strtab = dt_pe_copy(m, d->strtab, d->strlen);
	to->functions = dt_pe_alloc(m, d->nfunctions * sizeof(*d->functions));
	if (!to->text || !to->inttab || !to->strtab || !to->functions)
		return NULL;
	for (uint32_t i = 0; i < d->nfunctions; i++)
		to->functions[i] = copy_difo(m, d->functions[i]); /* these call none */
	return to;
}

const dt_prologue *dt_pe_share_prologue(struct dt_pe_memory *m, const dt_prologue *p)
{
	dt_prologue *to = p ? dt_pe_alloc(m, sizeof(*to)) : NULL;

	if (!to)
		return NULL;
	to->own = p->own;
	to->when = copy_difo(m, p->when);
	for (uint32_t i = 0; i < DT_ATTACH_ARGS; i++)
		to->arg[i] = copy_difo(m, p->arg[i]);
	return to;
}

static const dt_agg *copy_agg(struct dt_pe_program *p, struct dt_pe_memory *m, const dt_agg *a)
{
	dt_agg *to;

	for (uint32_t i = 0; a && i < p->aggs.n; i++)
		if (p->aggs.v[i] == a)
			return p->agg_copies.v[i];
	to = a ? dt_pe_alloc(m, sizeof(*to)) : NULL;
	if (!to)
		return NULL;
	*to = (dt_agg){.id = a->id, .func = a->func, .param = a->param, .nkeys = a->nkeys, .nwords = a->nwords};
	*dt_vec_add(&p->aggs, NULL) = a;
	*dt_vec_add(&p->agg_copies, NULL) = to;
	return to;
}

static bool copy_plan(struct dt_pe_program *p, struct dt_pe_memory *m, const dt_record_plan *plan, uint32_t nactions)
{
	dt_record_plan to = *plan;

	to.actions = dt_pe_copy(m, plan->actions, nactions * sizeof(*plan->actions));
	to.parts = dt_pe_copy(m, plan->parts, plan->nparts * sizeof(*plan->parts));
	if (!to.actions || !to.parts)
		return false;
	for (uint32_t i = 0; i < nactions; i++)
		to.actions[i].agg = copy_agg(p, m, plan->actions[i].agg);
	*dt_vec_add(&p->plans, NULL) = to;
	return true;
}

static bool copy_clause(struct dt_pe_program *p, struct dt_pe_memory *m, const struct dt_vm_ecb *x)
{
	const dt_clause *c = x->ecb->clause;
	dt_clause *to = dt_pe_alloc(m, sizeof(*to));

	if (!to)
		return false;
	*to = (dt_clause){.nactions = c->nactions, .source = c->source, .destructive = c->destructive};
	to->pred = copy_difo(m, c->pred);
	to->actions = dt_pe_copy(m, c->actions, c->nactions * sizeof(*c->actions));
	if (!to->actions || !copy_plan(p, m, &x->record, c->nactions))
		return false;
	for (uint32_t i = 0; i < c->nactions; i++) {
		to->actions[i].difo = copy_difo(m, c->actions[i].difo);
		to->actions[i].incr = copy_difo(m, c->actions[i].incr);
	}
	*dt_vec_add(&p->clauses, NULL) = c;
	*dt_vec_add(&p->copies, NULL) = to;
	return true;
}

/* Clauses follow each other: the one of this ECB is most often the last. */
static bool find_clause(struct dt_pe_program *p, struct dt_pe_memory *m, const struct dt_vm_ecb *x, uint32_t *at)
{
	for (uint32_t i = p->clauses.n; i-- > 0;)
		if (p->clauses.v[i] == x->ecb->clause) {
			*at = i;
			return true;
		}
	*at = p->clauses.n;
	return copy_clause(p, m, x);
}

/* A clause that waits for its probes has none. */
static const dt_probe *copy_probe(struct dt_pe_memory *m, const dt_probe *pr)
{
	dt_probe *to = dt_pe_alloc(m, sizeof(*to));

	if (to && pr)
		*to = (dt_probe){.id = pr->id,
				 .prov = copy_text(m, pr->prov),
				 .mod = copy_text(m, pr->mod),
				 .func = copy_text(m, pr->func),
				 .name = copy_text(m, pr->name)};
	return to && (!pr || to->name) ? to : NULL;
}

bool dt_pe_share_ecb(struct dt_pe_program *p, struct dt_pe_memory *m, uint32_t i)
{
	const struct dt_vm_ecb *x = &p->host->ecbs[i];
	dt_ecb *ecb = dt_pe_alloc(m, sizeof(*ecb));
	uint32_t at = 0;

	if (!ecb || !find_clause(p, m, x, &at))
		return false;
	*ecb = (dt_ecb){.epid = x->ecb->epid, .probe = copy_probe(m, x->ecb->probe), .clause = (dt_clause *)(uintptr_t)p->copies.v[at]};
	p->ecbs[i] = (struct dt_vm_ecb){.ecb = ecb, .record = p->plans.v[at], .probe = x->probe};
	return ecb->probe != NULL;
}

bool dt_pe_share(struct dt_pe_program *p, struct dt_pe_memory *m, uint32_t cap)
{
	p->ecbs = dt_pe_alloc(m, cap * sizeof(*p->ecbs));
	for (uint32_t i = 0; p->ecbs && i < p->host->necbs; i++)
		if (!dt_pe_share_ecb(p, m, i))
			return false;
	return p->ecbs && !m->full;
}

void dt_pe_program_free(struct dt_pe_program *p)
{
	dt_vec_free(&p->clauses);
	dt_vec_free(&p->copies);
	dt_vec_free(&p->plans);
	dt_vec_free(&p->aggs);
	dt_vec_free(&p->agg_copies);
}

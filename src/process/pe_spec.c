/*
 * pe_spec: speculations, which BEGIN, the target and END have in common.
 *
 * Those of BEGIN go to shared memory before probes can fire, with their records, and come back before END: meanwhile they are
 * the target's (runtime/rt_spec.c).
 */
#include <stdlib.h>

#include "process/process.h"

static bool speculates(const dt_pe *p)
{
	for (uint32_t i = 0; i < p->host->necbs; i++) {
		const struct dt_vm_ecb *x = &p->host->ecbs[i];

		DT_EACH_DIFO(it, x->ecb->clause)
			for (uint32_t k = 0; k < it.difo->len; k++)
				if (DT_I_OP(it.difo->text[k]) == DT_OP_CALL && DT_I_INDEX(it.difo->text[k]) == DT_SUBR_SPECULATION)
					return true;
		for (uint32_t k = 0; k < x->ecb->clause->nactions; k++)
			switch (x->record.actions[k].effect) {
			case DT_EFFECT_SPECULATE:
			case DT_EFFECT_COMMIT:
			case DT_EFFECT_DISCARD: return true;
			default: break;
			}
	}
	return false;
}

/* As many records as specsize allows. */
static uint64_t bytes_each(const dt_pe *p)
{
	uint64_t ratio = 1, largest = 0;

	dt_pe_entries(p, &largest, &ratio);
	return dt_align_up(dt_opt(p->opts, DT_O_SPECSIZE) * ratio + largest, 4096);
}

uint64_t dt_pe_specs_size(const dt_pe *p)
{
	uint64_t n = dt_opt(p->opts, DT_O_NSPEC);

	return speculates(p) ? n * (sizeof(struct dt_pe_spec) + bytes_each(p)) : 0;
}

bool dt_pe_specs_make(dt_pe *p)
{
	uint64_t n = speculates(p) ? dt_opt(p->opts, DT_O_NSPEC) : 0;
	struct dt_pe_specs *s = &p->specs;

	s->v = dt_pe_alloc(&p->memory, n * sizeof(*s->v));
	p->spec_data = dt_xcalloc(n + 1, sizeof(*p->spec_data));
	s->writes = dt_pe_alloc(&p->memory, p->nslots * sizeof(*s->writes));
	s->limit = dt_opt(p->opts, DT_O_SPECSIZE);
	s->cap = bytes_each(p);
	s->buf.ring = true;
	for (uint64_t i = 0; i < n && s->v; i++) {
		s->v[i].data = p->spec_data[i] = dt_pe_alloc(&p->memory, s->cap);
		s->n += s->v[i].data != NULL;
	}
	return s->n == n && s->writes;
}

void dt_pe_specs_share(dt_pe *p)
{
	for (uint32_t i = 0; i < p->specs.n; i++) {
		struct dt_pe_spec *x = &p->specs.v[i];
		bool active = dt_vm_spec_is_active(p->host->vm.specs, i + 1ull);
		dt_vm_buf *b = dt_vm_spec_set(p->host->vm.specs, i + 1ull, false, false);
		dt_vm_rec *r;

		x->word = b->first ? DT_PE_SPEC_USED : active ? DT_PE_SPEC_ACTIVE : DT_PE_SPEC_FREE;
		while ((r = dt_vm_buf_take(b))) {
			uint32_t data = r->ecb->record.parts[r->part].data_size;
			struct dt_pe_entry *to = (struct dt_pe_entry *)(void *)(p->spec_data[i] + x->top);

			if (x->top + dt_pe_entry_size(data) <= p->specs.cap) {
				to->head = (struct dt_pe_head){(uint32_t)dt_pe_entry_size(data), DT_PE_RECORD};
				memcpy(&to->rec, r, sizeof(*r) + data);
				to->rec.ecb = &p->program.ecbs[r->ecb - p->host->ecbs];
				x->top += to->head.size;
				x->cost += r->cost;
			}
			free(r);
		}
	}
}

/* The target has written this: everything is checked. */
static void take_back(dt_pe *p, uint32_t i, dt_vm_buf *to)
{
	uint64_t top = p->specs.v[i].top;
	uint32_t first = p->pending.n;

	top = top < p->specs.cap ? top : p->specs.cap;
	for (uint64_t at = 0, n, cost = 0; at < top; at += n) {
		n = dt_pe_read_entry(p, p->spec_data[i] + at, top - at, &cost);
		if (!n)
			break;
	}
	if (!to)
		return;
	for (uint32_t k = first; k < p->pending.n; k++) {
		const struct dt_pe_pending *x = &p->pending.v[k];
		const struct dt_vm_ecb *e = &p->host->ecbs[x->ecb];
		uint32_t size = e->record.parts[x->part].data_size;
		dt_vm_rec *r = x->data ? dt_xcalloc(1, sizeof(*r) + size) : NULL;

		if (!r)
			continue;
		*r = (dt_vm_rec){.ecb = e, .cpu = x->cpu, .cost = e->record.parts[x->part].cost, .part = x->part, .continues = x->continues};
		memcpy(r->data, x->data, size);
		if (dt_vm_buf_fits(to, r->cost, 0))
			dt_vm_buf_add(to, r);
		else
			free(r);
		free(x->data);
	}
	p->pending.n = first;
}

void dt_pe_specs_take(dt_pe *p)
{
	for (uint32_t i = 0; i < p->specs.n; i++) {
		uint64_t state = p->specs.v[i].word & DT_PE_SPEC_STATE;
		bool used = state == DT_PE_SPEC_USED;
		dt_vm_buf *b = dt_vm_spec_set(p->host->vm.specs, i + 1ull, state == DT_PE_SPEC_ACTIVE, used);

		if (used || state == DT_PE_SPEC_COMMITTING) /* the process ended before that was done: it is now */
			take_back(p, i, used ? b : NULL);
	}
}

void dt_pe_specs_status(const dt_pe *p, dt_status *st)
{
	for (uint32_t i = 0; i < p->nslots; i++) {
		const struct dt_pe_specs *s = &p->slots[i].specs;

		st->spec_drops += s->drops;
		st->spec_busy += s->busy;
		st->spec_unavail += s->unavail;
	}
}

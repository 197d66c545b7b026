/*
 * kept: records kept in this process: those of speculations until they end, and with the ring
 * policy committed ones until the end of tracing.
 */
#include <stdlib.h>

#include "bpf/run/ring.h"

struct list {
	struct dt_kept_rec *first, **last;
	uint64_t bytes, cost;
};

struct spec {
	uint32_t use; /* which use of the id this is */
	bool ended;
	struct list list;
};

struct dt_kept {
	uint32_t nspecs, ncpus;
	struct spec *spec; /* id 1 is the first */
	struct list *cpu;
	uint64_t drops; /* of speculative records */
};

/* ---- lists ---- */

static void list_add(struct list *l, const struct dt_rec *r, uint32_t size, uint32_t cpu,
		     uint64_t time)
{
	struct dt_kept_rec *k = dt_xmalloc(sizeof(*k) + size);

	k->next = NULL;
	k->time = time;
	k->cpu = cpu;
	k->size = size;
	memcpy(k->rec, r, size);
	if (!l->first)
		l->last = &l->first;
	*l->last = k;
	l->last = &k->next;
	l->bytes += size;
}

static struct dt_kept_rec *list_take(struct list *l)
{
	struct dt_kept_rec *k = l->first;

	if (k) {
		l->first = k->next;
		l->bytes -= k->size;
	}
	return k;
}

static void list_clear(struct list *l)
{
	for (struct dt_kept_rec *k; (k = list_take(l));)
		free(k);
}

/* ---- all of them ---- */

struct dt_kept *dt_kept_new(uint32_t ncpus, uint32_t nspecs)
{
	struct dt_kept *k = dt_xcalloc(1, sizeof(*k));

	k->ncpus = ncpus;
	k->nspecs = nspecs;
	return k;
}

void dt_kept_free(struct dt_kept *k)
{
	if (!k)
		return;
	for (uint32_t i = 0; k->spec && i < k->nspecs; i++)
		list_clear(&k->spec[i].list);
	for (uint32_t i = 0; k->cpu && i < k->ncpus; i++)
		list_clear(&k->cpu[i]);
	free(k->spec);
	free(k->cpu);
	free(k);
}

uint64_t dt_kept_drops(const dt_bpf *e)
{
	return e->kept ? e->kept->drops : 0;
}

/* ---- speculations ---- */

static struct spec *spec_of(struct dt_kept *k, uint32_t tag)
{
	uint32_t id = tag & 0xffff, use = tag >> 16;
	struct spec *s;

	if (id == 0 || id > k->nspecs)
		return NULL;
	if (!k->spec)
		k->spec = dt_xcalloc(k->nspecs, sizeof(*k->spec));
	s = &k->spec[id - 1];
	if (s->use != use) { /* the id has a new owner */
		for (struct dt_kept_rec *r; (r = list_take(&s->list)); free(r))
			k->drops++; /* what ended it was itself dropped */
		s->use = use;
		s->ended = false;
	}
	return s;
}

void dt_kept_speculate(dt_bpf *e, const struct dt_rec *r, uint32_t size, uint32_t cpu)
{
	struct spec *s = spec_of(e->kept, r->spec);

	if (!s || s->ended || s->list.bytes + size > dt_opt(e->plan.opts, DT_O_SPECSIZE))
		e->kept->drops++;
	else
		list_add(&s->list, r, size, cpu, r->time);
}

struct dt_kept_rec *dt_kept_end(dt_bpf *e, const struct dt_rec *marker)
{
	struct spec *s = spec_of(e->kept, marker->spec);

	if (!s)
		return NULL;
	s->ended = true;
	return list_take(&s->list);
}

/* ---- the ring policy ---- */

/* A record older than the last bufsize bytes of committed records on a CPU is also older than the
 * last bufsize bytes of all its records. */
void dt_kept_newest(dt_bpf *e, const struct dt_rec *r, uint32_t size, uint32_t cpu, uint64_t time)
{
	struct dt_kept *k = e->kept;
	uint32_t cost = dt_ring_cost(e, r);
	struct list *l;

	if (!k->cpu)
		k->cpu = dt_xcalloc(k->ncpus, sizeof(*k->cpu));
	l = &k->cpu[cpu];
	while (l->first && l->cost + cost > e->plan.buffers.size) {
		l->cost -= dt_ring_cost(e, l->first->rec);
		free(list_take(l));
	}
	l->cost += cost;
	list_add(l, r, size, cpu, time);
}

const struct dt_kept_rec *dt_kept_of_cpu(const dt_bpf *e, uint32_t cpu)
{
	return e->kept->cpu ? e->kept->cpu[cpu].first : NULL;
}

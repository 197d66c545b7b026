/*
 * order: records of all machines, copied, until they can be passed on in order of time.
 *
 * Records of one machine come in their order, so those with equal times stay in the order of their arrival; parts of one
 * firing have the same time and the same machine, and stay together.
 */
#include <stdlib.h>

#include "fleet/one_target.h"

struct dt_waiting_record *dt_order_add(dt_order *o, const dt_record *r, uint32_t machine, dt_account *payer)
{
	uint32_t n = r->values ? r->ecb->clause->nactions : 0, end = n ? r->first + r->nactions : 0;
	struct dt_waiting_record *w;
	size_t bytes = 0, size;
	char *p;

	for (uint32_t i = r->first; i < end; i++)
		bytes += dt_align_up(r->values[i].size, 8);
	size = bytes + n * sizeof(*w->values) + sizeof(*w);
	if (payer && !dt_account_take(payer, size)) {
		payer->refused_records++;
		return NULL;
	}
	w = dt_vec_add(&o->v, NULL);
	*w = (struct dt_waiting_record){
	    .time = r->timestamp, .machine = machine, .payer = payer, .arrival = o->arrivals++, .size = size, .rec = *r};
	if (r->fault)
		w->fault = *r->fault;
	w->values = dt_xcalloc(n + 1, sizeof(*w->values));
	w->bytes = p = dt_xcalloc(1, bytes + 8);
	for (uint32_t i = r->first; i < end; i++) {
		w->values[i] = r->values[i];
		if (!r->values[i].data)
			continue;
		memcpy(p, r->values[i].data, r->values[i].size);
		w->values[i].data = p;
		p += dt_align_up(r->values[i].size, 8);
	}
	if (o->v.n == 1)
		o->first = o->last = w->time;
	o->first = w->time < o->first ? w->time : o->first;
	o->last = w->time > o->last ? w->time : o->last;
	o->bytes += size;
	if (payer)
		payer->waiting += size;
	return w;
}

static int by_time(const void *a, const void *b)
{
	const struct dt_waiting_record *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->machine != y->machine)
		return x->machine < y->machine ? -1 : 1;
	return x->arrival < y->arrival ? -1 : 1;
}

static void free_record(dt_order *o, struct dt_waiting_record *w)
{
	o->bytes -= w->size;
	if (w->payer) {
		dt_account_give(w->payer, w->size);
		w->payer->waiting -= w->size;
	}
	free(w->values);
	free(w->bytes);
}

void dt_order_refuse_last(dt_order *o)
{
	struct dt_waiting_record *w = &o->v.v[--o->v.n];

	w->payer->refused_records++;
	free_record(o, w);
}

int dt_order_release(dt_order *o, uint64_t until, dt_order_f *pass, void *arg)
{
	uint32_t n = 0;
	int rc = 0;

	if (o->v.n)
		qsort(o->v.v, o->v.n, sizeof(*o->v.v), by_time);
	for (; n < o->v.n && o->v.v[n].time <= until; n++) {
		struct dt_waiting_record *w = &o->v.v[n];

		w->rec.values = w->rec.values ? w->values : NULL;
		w->rec.fault = w->rec.fault ? &w->fault : NULL;
		if (rc == 0)
			rc = pass(arg, w);
		free_record(o, w);
	}
	if (n && n < o->v.n)
		memmove(o->v.v, o->v.v + n, (o->v.n - n) * sizeof(*o->v.v));
	o->v.n -= n;
	if (o->v.n)
		o->first = o->v.v[0].time;
	return rc;
}

void dt_order_free(dt_order *o)
{
	for (uint32_t i = 0; i < o->v.n; i++)
		free_record(o, &o->v.v[i]);
	dt_vec_free(&o->v);
}

/*
 * vm_agg: the aggregation buffer.
 *
 * A hash table of rows, one per aggregation and key tuple, in order of first use. Seven eighths of
 * aggsize may be taken by rows, each at the cost of a fixed layout (strings at full size); a row
 * that does not fit is a drop, existing rows continue to count. A snapshot passes on every row and
 * empties the table: the consumer adds them up.
 *
 * vm_value.c adds to the value of a row.
 */
#include <stdlib.h>

#include "dif/quantize.h"
#include "vm/machine.h"

struct row {
	struct row *chain, *next;
	const dt_agg *agg;
	uint64_t hash;
	uint32_t cpu;
	dt_account *payer; /* the machine that made it; NULL: this one */
	uint32_t nwords, nkeys;
	uint64_t key_size;
	uint8_t *keys;	 /* for each: u64 size, bytes, padding to 8 */
	uint32_t *shown; /* as in dt_datum: of the statement that made the row */
	uint64_t value[];
};

struct dt_vm_aggs {
	uint64_t limit, used;
	struct row **buckets;
	uint32_t nbuckets, nrows; /* nbuckets: a power of two */
	struct row *first, **last;
	dt_account *payer; /* of rows that are made now */
	/* the row being built */
	dt_buf key;
	uint8_t *room; /* for a key that is being made */
	uint64_t key_cost;
	uint32_t nkeys;
	DT_VEC(uint32_t) shown;
};

dt_vm_aggs *dt_vm_aggs_new(uint64_t aggsize)
{
	dt_vm_aggs *as = dt_xcalloc(1, sizeof(*as));

	as->limit = aggsize - aggsize / 8;
	as->nbuckets = 64;
	as->buckets = dt_xcalloc(as->nbuckets, sizeof(*as->buckets));
	as->last = &as->first;
	return as;
}

static void empty(dt_vm_aggs *as)
{
	while (as->first) {
		struct row *r = as->first;

		as->first = r->next;
		free(r->keys);
		free(r->shown);
		free(r);
	}
	as->last = &as->first;
	as->used = as->nrows = 0;
	memset(as->buckets, 0, as->nbuckets * sizeof(*as->buckets));
}

void dt_vm_aggs_free(dt_vm_aggs *as)
{
	if (!as)
		return;
	empty(as);
	dt_buf_free(&as->key);
	free(as->room);
	dt_vec_free(&as->shown);
	free(as->buckets);
	free(as);
}

/* ---- rows ---- */

void dt_vm_agg_payer(dt_vm_aggs *as, dt_account *payer)
{
	as->payer = payer;
}

void dt_vm_agg_begin(dt_vm_aggs *as)
{
	dt_buf_reset(&as->key);
	as->key_cost = as->nkeys = as->shown.n = 0;
}

void *dt_vm_agg_room(dt_vm_aggs *as, uint32_t n)
{
	free(as->room);
	as->room = dt_xcalloc(1, n);
	return as->room;
}

void dt_vm_agg_key(dt_vm_aggs *as, const dt_datum *d, uint32_t cost)
{
	static const char zeros[8];
	uint64_t n = d->size;

	dt_buf_add(&as->key, &n, sizeof(n));
	dt_buf_add(&as->key, d->data, n);
	dt_buf_add(&as->key, zeros, dt_align_up(n, 8) - n);
	*dt_vec_add(&as->shown, NULL) = d->shown;
	as->key_cost += dt_align_up(cost, 8);
	as->nkeys++;
}

static void grow(dt_vm_aggs *as)
{
	free(as->buckets);
	as->nbuckets *= 2;
	as->buckets = dt_xcalloc(as->nbuckets, sizeof(*as->buckets));
	for (struct row *r = as->first; r; r = r->next) {
		struct row **b = &as->buckets[r->hash & (as->nbuckets - 1)];

		r->chain = *b;
		*b = r;
	}
}

static struct row *new_row(dt_vm_aggs *as, const dt_agg *agg, uint64_t hash, uint32_t cpu)
{
	uint32_t nwords = dt_agg_words(agg->func, agg->param);
	struct row *r;
	uint64_t cost;

	if (nwords < agg->nwords)
		nwords = agg->nwords;
	cost = 8 + as->key_cost + (uint64_t)nwords * 8; /* 8: the id */
	if (nwords == 0 ||
	    (as->nrows && as->used + cost > as->limit)) /* one row always fits */
		return NULL;
	as->used += cost;
	r = dt_xcalloc(1, sizeof(*r) + (size_t)nwords * 8);
	r->agg = agg;
	r->hash = hash;
	r->cpu = cpu;
	r->payer = as->payer;
	r->nwords = nwords;
	r->nkeys = as->nkeys;
	r->key_size = as->key.n;
	r->keys = dt_xmalloc(as->key.n + 1);
	if (as->key.n)
		memcpy(r->keys, as->key.s, as->key.n);
	r->shown = dt_xcalloc(as->nkeys + 1, sizeof(*r->shown));
	if (as->nkeys)
		memcpy(r->shown, as->shown.v, as->nkeys * sizeof(*r->shown));
	dt_vm_value_start(agg, r->value);
	*as->last = r;
	as->last = &r->next;
	if (++as->nrows > as->nbuckets) {
		grow(as);
	} else {
		r->chain = as->buckets[hash & (as->nbuckets - 1)];
		as->buckets[hash & (as->nbuckets - 1)] = r;
	}
	return r;
}

static struct row *find(dt_vm_aggs *as, const dt_agg *agg, uint64_t hash)
{
	struct row *r = as->buckets[hash & (as->nbuckets - 1)];

	for (; r; r = r->chain)
		if (r->hash == hash && r->agg == agg && r->key_size == as->key.n &&
		    (as->key.n == 0 || memcmp(r->keys, as->key.s, as->key.n) == 0))
			break;
	return r;
}

bool dt_vm_agg_add(dt_vm_aggs *as, const dt_agg *agg, uint32_t cpu, int64_t value, int64_t incr)
{
	uint64_t hash = dt_hash_bytes(as->key.n ? as->key.s : "", as->key.n) ^
			(uint64_t)agg->id * 0x9e3779b97f4a7c15u;
	struct row *r = find(as, agg, hash);

	if (!r)
		r = new_row(as, agg, hash, cpu);
	if (r)
		dt_vm_value_add(agg, r->value, r->nwords, value, incr);
	return r != NULL;
}

int dt_vm_agg_snapshot(dt_vm_aggs *as, const dt_sink *sink)
{
	DT_VEC(dt_datum) keys = {0};
	int rc = 0;

	for (struct row *r = as->first; r && rc == 0; r = r->next) {
		const uint8_t *p = r->keys;
		uint64_t size;

		keys.n = 0;
		for (uint32_t i = 0; i < r->nkeys; i++) {
			memcpy(&size, p, 8);
			*dt_vec_add(&keys, NULL) = (dt_datum){p + 8, (uint32_t)size, r->shown[i]};
			p += 8 + dt_align_up(size, 8);
		}
		while (keys.n < r->agg->nkeys) /* never fewer than the consumer expects */
			dt_vec_add(&keys, NULL);
		rc = r->payer && sink->far_agg ? sink->far_agg(sink->arg, r->payer, r->agg, keys.v, r->value)
					       : sink->agg(sink->arg, r->agg, r->cpu, keys.v, r->value);
	}
	dt_vec_free(&keys);
	empty(as);
	return rc;
}

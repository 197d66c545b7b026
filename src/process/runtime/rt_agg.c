/*
 * rt_agg: aggregations of a thread, in memory shared with dtrace: vm_agg.c without allocation.
 *
 * Rows are appended to a table, and found by hash. dtrace changes the table in use, waits until the thread is not in a
 * probe, reads the other one and empties it; so neither waits for the other.
 */
#include "process/runtime/runtime.h"

static struct dt_pe_aggs *aggs_of(dt_vm_aggs *as)
{
	return (struct dt_pe_aggs *)as;
}

void dt_vm_agg_begin(dt_vm_aggs *as)
{
	struct dt_pe_aggs *a = aggs_of(as);

	a->key_size = a->nkeys = 0;
	a->key_cost = 0;
	a->too_large = false;
}

/* The engine has seen how large keys can be. */
void *dt_vm_agg_room(dt_vm_aggs *as, uint32_t n)
{
	struct dt_pe_aggs *a = aggs_of(as);

	return memset(a->room, 0, n < a->room_cap ? n : a->room_cap);
}

void dt_vm_agg_key(dt_vm_aggs *as, const dt_datum *d, uint32_t cost)
{
	struct dt_pe_aggs *a = aggs_of(as);
	uint64_t size = d->size, end = dt_align_up(size, 8);

	if (a->nkeys == DT_PE_KEYS_MAX || a->key_cap - a->key_size < end + 8) {
		a->too_large = true;
		return;
	}
	memset(a->key + a->key_size + end, 0, 8); /* the padding */
	memcpy(a->key + a->key_size, &size, 8);
	memcpy(a->key + a->key_size + 8, d->data, size);
	a->key_size += (uint32_t)(8 + end);
	a->shown[a->nkeys++] = d->shown;
	a->key_cost += dt_align_up(cost, 8);
}

static struct dt_pe_row *new_row(struct dt_pe_aggs *a, struct dt_pe_table *t, const dt_agg *agg, uint64_t hash)
{
	uint64_t cost = 8 + a->key_cost + (uint64_t)agg->nwords * 8;
	uint64_t size = sizeof(struct dt_pe_row) + (uint64_t)agg->nwords * 8 + a->key_size + dt_align_up(a->nkeys * 4ull, 8);
	struct dt_pe_row *r = (struct dt_pe_row *)(void *)(t->rows + t->top);
	uint32_t *bucket = &t->buckets[hash & (a->nbuckets - 1)];

	if (a->too_large || (t->nrows && t->used + cost > a->limit) || size > a->cap - t->top)
		return NULL;
	*r = (struct dt_pe_row){.hash = hash,
				.next = *bucket,
				.size = (uint32_t)size,
				.agg = agg->id,
				.cpu = dt_rt_cpu(),
				.nkeys = a->nkeys,
				.key_size = a->key_size,
				.nwords = agg->nwords};
	memset(r->data, 0, (size_t)r->nwords * 8);
	dt_vm_value_start(agg, r->data);
	memcpy(r->data + r->nwords, a->key, a->key_size);
	memcpy((uint8_t *)(r->data + r->nwords) + a->key_size, a->shown, a->nkeys * 4ull);
	*bucket = (uint32_t)(t->top / 8) + 1;
	t->top += size;
	t->used += cost;
	t->nrows++;
	return r;
}

static struct dt_pe_row *find(const struct dt_pe_aggs *a, const struct dt_pe_table *t, uint32_t id, uint64_t hash)
{
	uint32_t at = t->buckets[hash & (a->nbuckets - 1)];

	while (at) {
		struct dt_pe_row *r = (struct dt_pe_row *)(void *)(t->rows + (at - 1) * 8ull);

		if (r->hash == hash && r->agg == id && r->key_size == a->key_size &&
		    memcmp(r->data + r->nwords, a->key, a->key_size) == 0)
			return r;
		at = r->next;
	}
	return NULL;
}

bool dt_vm_agg_add(dt_vm_aggs *as, const dt_agg *agg, uint32_t cpu, int64_t value, int64_t incr)
{
	struct dt_pe_aggs *a = aggs_of(as);
	struct dt_pe_table *t = &a->table[__atomic_load_n(&a->active, __ATOMIC_RELAXED) & 1];
	uint64_t hash = dt_hash_bytes(a->key, a->key_size) ^ (uint64_t)agg->id * 0x9e3779b97f4a7c15u;
	struct dt_pe_row *r = a->too_large ? NULL : find(a, t, agg->id, hash);

	(void)cpu;
	if (!r)
		r = new_row(a, t, agg, hash);
	if (r)
		dt_vm_value_add(agg, r->data, r->nwords, value, incr);
	return r != NULL;
}

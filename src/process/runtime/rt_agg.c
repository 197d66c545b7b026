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

static uint64_t mix(uint64_t hash, uint64_t word)
{
	unsigned __int128 x = (unsigned __int128)(hash ^ word) * 0xd6e8feb86659fd93u;

	return (uint64_t)x ^ (uint64_t)(x >> 64);
}

static uint64_t start(const dt_agg *agg)
{
	return agg->id * 0x9e3779b97f4a7c15u;
}

/* Of the data of the keys, in words. */
static uint64_t hash_keys(const struct dt_pe_aggs *a, const dt_agg *agg)
{
	const uint64_t *w = (const uint64_t *)(const void *)a->key, *end = w + a->key_size / 8;
	uint64_t hash = start(agg);

	while (w < end)
		for (uint64_t n = (*w++ + 7) / 8; n; n--)
			hash = mix(hash, *w++);
	return hash;
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
	uint64_t hash = a->too_large ? 0 : hash_keys(a, agg);
	struct dt_pe_row *r = a->too_large ? NULL : find(a, t, agg->id, hash);

	(void)cpu;
	if (!r)
		r = new_row(a, t, agg, hash);
	if (r)
		dt_vm_value_add(agg, r->data, r->nwords, value, incr);
	return r != NULL;
}

/* ---- the same for keys that are numbers ---- */

static struct dt_pe_row *find_numbers(const struct dt_pe_slot *s, const struct dt_pe_table *t, const struct dt_pe_keys *k, uint64_t hash)
{
	uint32_t at = t->buckets[hash & (s->aggs.nbuckets - 1)];

	while (at) {
		struct dt_pe_row *r = (struct dt_pe_row *)(void *)(t->rows + (at - 1) * 8ull);
		const uint64_t *w = r->data + k->agg->nwords;
		uint32_t i = 0;

		if (r->hash == hash && r->agg == k->agg->id && r->key_size == k->nkeys * 16)
			while (i < k->nkeys && w[i * 2] == 8 && w[i * 2 + 1] == s->keys[i])
				i++;
		if (i == k->nkeys && r->hash == hash && r->agg == k->agg->id && r->key_size == k->nkeys * 16)
			return r;
		at = r->next;
	}
	return NULL;
}

static __attribute__((noinline)) struct dt_pe_row *new_numbers(struct dt_pe_slot *s, struct dt_pe_table *t, const struct dt_pe_keys *k,
							       uint64_t hash)
{
	dt_vm_aggs *as = (dt_vm_aggs *)&s->aggs;
	struct dt_pe_row *r;

	dt_vm_agg_begin(as);
	for (uint32_t i = 0; i < k->nkeys; i++)
		dt_vm_agg_key(as, &(dt_datum){&s->keys[i], 8, k->shown[i]}, 0);
	s->aggs.key_cost = k->cost;
	r = new_row(&s->aggs, t, k->agg, hash);
	s->agg_drops += !r;
	return r;
}

uint64_t *dt_rt_n_row(struct dt_pe_slot *s, const struct dt_pe_keys *k)
{
	struct dt_pe_table *t = &s->aggs.table[__atomic_load_n(&s->aggs.active, __ATOMIC_RELAXED) & 1];
	uint64_t hash = start(k->agg), at;
	struct dt_pe_row *r;

	for (uint32_t i = 0; i < k->nkeys; i++)
		hash = mix(hash, s->keys[i]);
	r = find_numbers(s, t, k, hash);
	if (!r)
		r = new_numbers(s, t, k, hash);
	if (!r)
		return NULL;
	at = (uint64_t)((uint8_t *)r->data - t->rows);
	if (!k->nkeys && at <= UINT32_MAX)
		t->direct[k->index] = (uint32_t)at;
	return r->data;
}

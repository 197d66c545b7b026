/*
 * vm_agg: the aggregation buffer.
 *
 * A hash table of rows, one per aggregation and key tuple, in order of first use. Seven eighths of
 * aggsize may be taken by rows, each at the cost of a fixed layout (strings at full size); a row
 * that does not fit is a drop, existing rows continue to count. A snapshot passes on every row and
 * empties the table: the consumer adds them up.
 *
 * Bucket numbers and value layouts are those of dif/quantize.h.
 */
#include <stdlib.h>

#include "dif/quantize.h"
#include "vm/machine.h"

struct row {
	struct row *chain, *next;
	const dt_agg *agg;
	uint64_t hash;
	uint32_t cpu;
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
	/* the row being built */
	dt_buf key;
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
	dt_vec_free(&as->shown);
	free(as->buckets);
	free(as);
}

/* ---- rows ---- */

void dt_vm_agg_begin(dt_vm_aggs *as)
{
	dt_buf_reset(&as->key);
	as->key_cost = as->nkeys = as->shown.n = 0;
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

static void start_value(struct row *r)
{
	switch (dt_aggfunc(r->agg->func)) {
	case DT_AGG_MIN: r->value[0] = INT64_MAX; break;
	case DT_AGG_MAX: r->value[0] = (uint64_t)INT64_MIN; break;
	case DT_AGG_LQUANTIZE:
	case DT_AGG_LLQUANTIZE: r->value[0] = r->agg->param; break;
	case DT_AGG_COUNT:
	case DT_AGG_SUM:
	case DT_AGG_AVG:
	case DT_AGG_STDDEV:
	case DT_AGG_QUANTIZE: break;
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
	r->nwords = nwords;
	r->nkeys = as->nkeys;
	r->key_size = as->key.n;
	r->keys = dt_xmalloc(as->key.n + 1);
	if (as->key.n)
		memcpy(r->keys, as->key.s, as->key.n);
	r->shown = dt_xcalloc(as->nkeys + 1, sizeof(*r->shown));
	if (as->nkeys)
		memcpy(r->shown, as->shown.v, as->nkeys * sizeof(*r->shown));
	start_value(r);
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

/* ---- values; sums wrap ---- */

static void add_stddev(uint64_t *w, int64_t value)
{
	uint64_t x = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	unsigned __int128 square = (unsigned __int128)x * x;
	unsigned __int128 sum = (unsigned __int128)w[3] << 64 | w[2];

	sum += square;
	w[0]++;
	w[1] += (uint64_t)value;
	w[2] = (uint64_t)sum;
	w[3] = (uint64_t)(sum >> 64);
}

static void add_bucket(struct row *r, uint64_t bucket, int64_t incr)
{
	bucket += dt_agg_first_bucket(r->agg->func);
	if (bucket < r->nwords)
		r->value[bucket] += (uint64_t)incr;
}

static void add_value(struct row *r, int64_t value, int64_t incr)
{
	uint64_t *w = r->value, param = r->agg->param;

	switch (dt_aggfunc(r->agg->func)) {
	case DT_AGG_COUNT: w[0]++; break;
	case DT_AGG_SUM: w[0] += (uint64_t)value; break;
	case DT_AGG_MIN:
		if (value < (int64_t)w[0])
			w[0] = (uint64_t)value;
		break;
	case DT_AGG_MAX:
		if (value > (int64_t)w[0])
			w[0] = (uint64_t)value;
		break;
	case DT_AGG_AVG:
		w[0]++;
		w[1] += (uint64_t)value;
		break;
	case DT_AGG_STDDEV: add_stddev(w, value); break;
	case DT_AGG_QUANTIZE: add_bucket(r, (uint64_t)dt_quantize_bucket(value), incr); break;
	case DT_AGG_LQUANTIZE: add_bucket(r, dt_lquantize_bucket(param, value), incr); break;
	case DT_AGG_LLQUANTIZE: add_bucket(r, dt_llquantize_bucket(param, value), incr); break;
	}
}

bool dt_vm_agg_add(dt_vm_aggs *as, const dt_agg *agg, uint32_t cpu, int64_t value, int64_t incr)
{
	uint64_t hash = dt_hash_bytes(as->key.n ? as->key.s : "", as->key.n) ^
			(uint64_t)agg->id * 0x9e3779b97f4a7c15u;
	struct row *r = find(as, agg, hash);

	if (!r)
		r = new_row(as, agg, hash, cpu);
	if (r)
		add_value(r, value, incr);
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
		rc = sink->agg(sink->arg, r->agg, r->cpu, keys.v, r->value);
	}
	dt_vec_free(&keys);
	empty(as);
	return rc;
}

/*
 * agg_sort: the order in which aggregations are printed.
 *
 * By value, ties by key; with aggsortkey by key, ties by value; aggsortrev reverses the order. Keys
 * are compared from position aggsortkeypos on, then from the first again. Of several aggregations
 * in one printa() the one at aggsortpos counts first. Integer keys compare as unsigned numbers
 * whatever their type (so does DTrace), strings byte by byte.
 *
 * Averages compare as fractions, not truncated to integers. Distributions compare by their weighted
 * sums (each count times its bucket's value), then by the count in the bucket of zero.
 */
#include <stdlib.h>

#include "consume/writer.h"
#include "dif/quantize.h"

#define CMP(a, b) (((a) > (b)) - ((a) < (b)))

/* ---- values ---- */

static long double weighted_sum(const struct dt_buckets *b)
{
	long double sum = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		int64_t count = dt_bucket_count(b, i, 1);
		long double at = dt_bucket_bound(b, i);

		/* The open ends stand for the nearest number that is certainly outside. */
		if (b->func != DT_ACT_QUANTIZE && i == 0)
			at -= 1;
		if (b->func == DT_ACT_LQUANTIZE && i == b->n - 1)
			at += 1;
		sum += at * (long double)count;
	}
	return sum;
}

static int64_t zero_count(const struct dt_buckets *b)
{
	uint32_t i = b->func == DT_ACT_QUANTIZE	   ? DT_QUANTIZE_ZERO
		     : b->func == DT_ACT_LQUANTIZE ? dt_lquantize_bucket(b->param, 0)
						   : dt_llquantize_bucket(b->param, 0);

	return dt_bucket_count(b, i, 1);
}

static int compare_buckets(const dt_agg *agg, const uint64_t *a, const uint64_t *b)
{
	struct dt_buckets x, y;
	long double sx, sy;

	if (!dt_buckets_of(agg, a, &x) || !dt_buckets_of(agg, b, &y))
		return 0;
	sx = weighted_sum(&x);
	sy = weighted_sum(&y);
	if (sx != sy)
		return CMP(sx, sy);
	return CMP(zero_count(&x), zero_count(&y));
}

static int compare_averages(const dt_agg *agg, const uint64_t *a, const uint64_t *b)
{
	static const uint64_t none[2];
	__int128 x, y;

	if (agg->nwords < 2)
		return 0;
	a = a ? a : none;
	b = b ? b : none;
	/* s1 / c1 against s2 / c2; no count: zero. Each product fits 127 bits. */
	x = a[0] ? (__int128)(int64_t)a[1] * (b[0] ? b[0] : 1) : 0;
	y = b[0] ? (__int128)(int64_t)b[1] * (a[0] ? a[0] : 1) : 0;
	return CMP(x, y);
}

/* Two values of one aggregation. Either may be NULL: zero. */
static int compare_two(const dt_agg *agg, const uint64_t *a, const uint64_t *b)
{
	int64_t x, y;

	if (dt_agg_is_quantizer(agg))
		return compare_buckets(agg, a, b);
	if (agg->func == DT_ACT_AVG)
		return compare_averages(agg, a, b);
	x = dt_agg_number(agg, a, 1);
	y = dt_agg_number(agg, b, 1);
	return CMP(x, y);
}

/* ---- keys ---- */

static int compare_words(const dt_datum *a, const dt_datum *b)
{
	uint32_t n = a->size < b->size ? a->size : b->size;

	for (uint32_t i = 0; i + 8 <= n; i += 8) {
		uint64_t x, y;

		memcpy(&x, (const char *)a->data + i, 8);
		memcpy(&y, (const char *)b->data + i, 8);
		if (x != y)
			return CMP(x, y);
	}
	return CMP(a->size, b->size);
}

static int compare_key(const dt_agg *agg, const dt_datum *a, const dt_datum *b, uint32_t i)
{
	enum dt_payload p = dt_act(agg->keys[i].kind)->payload;
	dt_value x, y;
	int c;

	if (p == DT_PAYLOAD_STACK || p == DT_PAYLOAD_USTACK)
		return compare_words(&a[i], &b[i]);
	dt_value_of(&agg->keys[i], &a[i], &x);
	dt_value_of(&agg->keys[i], &b[i], &y);
	if (x.kind == DT_V_INT && y.kind == DT_V_INT)
		return CMP(x.u, y.u);
	if (x.kind == DT_V_SYMBOL)
		return compare_words(&a[i], &b[i]);
	c = memcmp(a[i].data, b[i].data, x.size < y.size ? x.size : y.size);
	return c ? c : CMP(x.size, y.size);
}

static int compare_keys(const dt_agg *agg, const dt_datum *a, const dt_datum *b, uint64_t from)
{
	uint32_t n = agg->nkeys;

	for (uint32_t i = 0; i < n; i++) {
		int c = compare_key(agg, a, b, (uint32_t)((from + i) % n));

		if (c)
			return c;
	}
	return 0;
}

/* ---- tables ---- */

struct order {
	const dt_aggtable *t;
	bool by_key, reverse, whole;
	uint64_t key_pos, agg_pos;
};

static int compare_values(const struct order *o, const dt_aggline *a, const dt_aggline *b)
{
	uint32_t n = o->t->nsets;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = (uint32_t)((o->agg_pos + i) % n);
		int c = compare_two(o->t->sets[at]->agg, a->values[at], b->values[at]);

		if (c)
			return c;
	}
	return 0;
}

static int compare_by_keys(const struct order *o, const dt_aggline *a, const dt_aggline *b)
{
	return compare_keys(o->t->sets[0]->agg, a->keys, b->keys, o->key_pos);
}

/*
 * Most comparisons are decided by two words in the line, so that the rows themselves, which are all
 * over the memory, are not read. sort[0] is a number that grows with what is compared first: 0 if
 * there is no such number. Only if lines with equal sort[0] are always equal in that respect
 * (`whole`), sort[1], the same for what is compared next, counts.
 */
static uint64_t value_word(const struct order *o, const dt_aggline *l)
{
	const dt_agg *agg = o->t->sets[o->agg_pos]->agg;

	if (dt_agg_is_quantizer(agg) || agg->func == DT_ACT_AVG)
		return 0;
	return (uint64_t)dt_agg_number(agg, l->values[o->agg_pos], 1) ^ 1ull << 63;
}

static uint64_t key_word(const struct order *o, const dt_aggline *l)
{
	const dt_agg *agg = o->t->sets[0]->agg;
	unsigned char start[8] = {0};
	uint64_t word = 0;
	dt_value v;

	if (agg->nkeys == 0)
		return 0;
	dt_value_of(&agg->keys[o->key_pos], &l->keys[o->key_pos], &v);
	if (v.kind == DT_V_INT)
		return v.u;
	if (v.kind != DT_V_STRING)
		return 0;
	memcpy(start, l->keys[o->key_pos].data, v.size < 8 ? v.size : 8);
	for (int i = 0; i < 8; i++)
		word = word << 8 | start[i];
	return word;
}

static bool is_whole(const struct order *o)
{
	const dt_agg *agg = o->t->sets[0]->agg;

	return !o->by_key && o->t->nsets == 1 && !dt_agg_is_quantizer(agg) &&
	       agg->func != DT_ACT_AVG;
}

static int compare_lines(const void *pa, const void *pb, void *arg)
{
	const struct order *o = arg;
	const dt_aggline *a = pa, *b = pb;
	int c = CMP(a->sort[0], b->sort[0]);

	if (c == 0 && o->whole)
		c = CMP(a->sort[1], b->sort[1]);
	if (c == 0 && !o->whole)
		c = o->by_key ? compare_by_keys(o, a, b) : compare_values(o, a, b);
	if (c == 0)
		c = o->by_key ? compare_values(o, a, b) : compare_by_keys(o, a, b);
	return o->reverse ? -c : c;
}

static void sort_lines(dt_aggtable *t, struct order *o)
{
	o->whole = is_whole(o);
	for (uint32_t i = 0; i < t->nlines; i++) {
		dt_aggline *l = &t->lines[i];

		l->sort[0] = o->by_key ? key_word(o, l) : value_word(o, l);
		l->sort[1] = o->whole ? key_word(o, l) : 0;
	}
	qsort_r(t->lines, t->nlines, sizeof(*t->lines), compare_lines, o);
}

static bool same_key_shape(const dt_agg *a, const dt_agg *b)
{
	return a->nkeys == b->nkeys;
}

/* The line with a row's keys among those of other aggregations; by hash, then by bytes. */
struct index {
	uint32_t *slot; /* line + 1 */
	uint32_t *hash;
	uint32_t mask;
};

static uint32_t *find_slot(const struct index *x, const dt_aggtable *t, const dt_aggrow *r)
{
	uint32_t n = t->sets[0]->agg->nkeys;

	for (uint32_t i = r->hash & x->mask;; i = (i + 1) & x->mask) {
		const dt_datum *k;
		uint32_t j = 0;

		if (x->slot[i] == 0) {
			x->hash[i] = r->hash;
			return &x->slot[i];
		}
		if (x->hash[i] != r->hash)
			continue;
		k = t->lines[x->slot[i] - 1].keys;
		while (j < n && k[j].size == r->keys[j].size &&
		       memcmp(k[j].data, r->keys[j].data, k[j].size) == 0)
			j++;
		if (j == n)
			return &x->slot[i];
	}
}

static void collect(dt_aggtable *t, uint32_t which, const struct index *x)
{
	dt_aggset *s = t->sets[which];

	for (uint32_t i = 0; i < s->nbuckets; i++) {
		for (dt_aggrow *r = s->buckets[i]; r; r = r->chain) {
			uint32_t *slot = find_slot(x, t, r);
			dt_aggline *l;

			if (*slot == 0) {
				l = &t->lines[t->nlines];
				l->agg = s->agg;
				l->keys = r->keys;
				l->values = t->values + (size_t)t->nlines * t->nsets;
				*slot = ++t->nlines;
			}
			t->values[(size_t)(*slot - 1) * t->nsets + which] = r->value;
		}
	}
}

/* One aggregation: each row is a line. */
static void collect_one(dt_aggtable *t)
{
	dt_aggset *s = t->sets[0];

	for (uint32_t i = 0; i < s->nbuckets; i++)
		for (dt_aggrow *r = s->buckets[i]; r; r = r->chain)
			t->lines[t->nlines++] =
			    (dt_aggline){.agg = s->agg, .keys = r->keys, .values = (const void *)&r->value};
}

static void collect_all(dt_aggtable *t, size_t rows)
{
	struct index x = {0};
	size_t slots = 16;

	while (slots < rows * 2)
		slots *= 2;
	t->values = dt_xcalloc(rows * t->nsets, sizeof(*t->values));
	x.slot = dt_xcalloc(slots, sizeof(*x.slot));
	x.hash = dt_xcalloc(slots, sizeof(*x.hash));
	x.mask = (uint32_t)slots - 1;
	for (uint32_t i = 0; i < t->nsets; i++)
		if (same_key_shape(t->sets[0]->agg, t->sets[i]->agg))
			collect(t, i, &x);
	free(x.slot);
	free(x.hash);
}

void dt_aggtable_make(dt_aggtable *t, dt_aggset **sets, uint32_t nsets, const dt_options *opts)
{
	struct order o = {.t = t};
	size_t rows = 0;

	memset(t, 0, sizeof(*t));
	t->sets = sets;
	t->nsets = nsets;
	for (uint32_t i = 0; i < nsets; i++)
		rows += sets[i]->nrows;
	if (rows == 0)
		return;
	t->lines = dt_xcalloc(rows, sizeof(*t->lines));
	if (nsets == 1)
		collect_one(t);
	else
		collect_all(t, rows);
	if (opts) {
		o.by_key = dt_opt(opts, DT_O_AGGSORTKEY);
		o.reverse = dt_opt(opts, DT_O_AGGSORTREV);
		o.key_pos = dt_opt(opts, DT_O_AGGSORTKEYPOS);
		o.agg_pos = dt_opt(opts, DT_O_AGGSORTPOS);
		if (o.agg_pos >= nsets)
			o.agg_pos = 0;
		if (o.key_pos >= sets[0]->agg->nkeys)
			o.key_pos = 0;
	}
	sort_lines(t, &o);
}

void dt_aggtable_free(dt_aggtable *t)
{
	free(t->lines);
	free(t->values);
	memset(t, 0, sizeof(*t));
}

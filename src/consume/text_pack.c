/*
 * text_pack: the compact layouts of aggregations, one line per key.
 *
 * aggpack: a distribution as a row of cells between its lowest and highest bucket.
 *
 *	      key  min .---. max  | count
 *	        1    0 : X : 2    | 1
 *
 * agghist: counts and sums as bars next to each other.
 *
 *	              key  ------------- Distribution ------------- count
 *	             cron |@@@@@@@@@@@@@@@@@@@@                     6
 *
 * All rows of a table share the range of buckets (aggpack) and the scale (agghist). Only one
 * aggregation at a time, only keys that fit on a line; everything else is printed as usual.
 */
#include "consume/writer.h"
#include "dif/quantize.h"

#define STRING_WIDTH 16

static bool is_hist(const dt_agg *agg)
{
	return agg->func == DT_ACT_COUNT || agg->func == DT_ACT_SUM;
}

static bool is_pack(const dt_agg *agg)
{
	return agg->func == DT_ACT_QUANTIZE || agg->func == DT_ACT_LQUANTIZE;
}

bool dt_text_packs(const dt_aggtable *t, const dt_options *opts)
{
	const dt_agg *agg = t->sets[0]->agg;
	struct dt_buckets b;

	if (t->nsets != 1 || t->format || t->nlines == 0)
		return false;
	if (!(dt_opt(opts, DT_O_AGGHIST) && is_hist(agg) && agg->nkeys > 0) &&
	    !(dt_opt(opts, DT_O_AGGPACK) && is_pack(agg) && dt_buckets_of(agg, NULL, &b)))
		return false;
	for (uint32_t i = 0; i < agg->nkeys; i++) {
		dt_value v;

		dt_value_of(&agg->keys[i], &t->lines[0].keys[i], &v);
		if (v.kind != DT_V_INT && v.kind != DT_V_STRING && v.kind != DT_V_SYMBOL)
			return false;
	}
	return true;
}

/* ---- keys ---- */

static void put_key(dt_buf *out, const dt_value *v, const struct dt_consumer_env *env)
{
	dt_buf b = {0};

	if (v->kind == DT_V_INT) {
		dt_text_int(out, v, false);
		return;
	}
	if (v->kind == DT_V_SYMBOL)
		dt_text_symbol(&b, v, env);
	else
		dt_buf_add(&b, v->size ? v->data : "", v->size);
	dt_buf_printf(out, " %*s", STRING_WIDTH, b.s ? b.s : "");
	dt_buf_free(&b);
}

static void put_keys(dt_buf *out, const dt_aggline *l, const struct dt_consumer_env *env)
{
	for (uint32_t i = 0; i < l->agg->nkeys; i++) {
		dt_value v;

		dt_value_of(&l->agg->keys[i], &l->keys[i], &v);
		put_key(out, &v, env);
	}
}

static int keys_width(const dt_aggline *l)
{
	int width = 0;

	for (uint32_t i = 0; i < l->agg->nkeys; i++) {
		dt_value v;
		dt_buf b = {0};

		dt_value_of(&l->agg->keys[i], &l->keys[i], &v);
		v.u = 0; /* the width of the column, not of this number */
		if (v.kind == DT_V_INT)
			dt_text_int(&b, &v, false);
		width += v.kind == DT_V_INT ? (int)b.n : 1 + STRING_WIDTH;
		dt_buf_free(&b);
	}
	return width;
}

/* ---- agghist ---- */

static void put_hist(dt_buf *out, const dt_aggtable *t, const struct dt_consumer_env *env)
{
	struct dt_bar_scale s = {.unit = 1, .utf8 = dt_text_utf8(env->opts, false)};
	const dt_aggset *set = t->sets[0];
	uint64_t max = 0;

	for (uint32_t i = 0; i < t->nlines; i++) {
		int64_t n = dt_agg_number(set->agg, t->lines[i].values[0], 1);
		uint64_t size = n < 0 ? -(uint64_t)n : (uint64_t)n;

		s.positive |= n > 0;
		s.negative |= n < 0;
		s.total += size;
		max = size > max ? size : max;
	}
	if (dt_opt(env->opts, DT_O_AGGZOOM)) /* a whole number here, unlike in distributions */
		s.total = (unsigned __int128)max * 20 / 19;
	dt_text_bar_head(out, "key", keys_width(&t->lines[0]));
	for (uint32_t i = 0; i < t->nlines; i++) {
		const uint64_t *value = t->lines[i].values[0];

		put_keys(out, &t->lines[i], env);
		dt_buf_putc(out, ' ');
		dt_text_bar(out, &s, dt_agg_number(set->agg, value, 1));
		dt_buf_printf(out, " %-9lld\n",
			      (long long)dt_agg_number(set->agg, value, set->normal));
	}
}

/* ---- aggpack ---- */

struct pack {
	uint32_t first, last;  /* buckets shown */
	char min[32], max[32]; /* their labels */
	int min_width, max_width;
	bool utf8, zoom;
};

/* lquantize shows all its buckets; quantize those that count in any row, and one more at each end
 * (but nothing below zero when zero is the lowest). */
static void pack_range(struct pack *p, const dt_aggtable *t)
{
	uint32_t lo = DT_QUANTIZE_NBUCKETS, hi = 0;
	struct dt_buckets b;

	dt_buckets_of(t->sets[0]->agg, NULL, &b);
	if (b.func == DT_ACT_LQUANTIZE) {
		p->first = 0;
		p->last = b.n - 1;
		snprintf(p->min, sizeof(p->min), "< %lld", (long long)dt_bucket_bound(&b, 0));
		snprintf(p->max, sizeof(p->max), ">= %lld",
			 (long long)dt_bucket_bound(&b, p->last));
		return;
	}
	for (uint32_t i = 0; i < t->nlines; i++) {
		dt_buckets_of(t->sets[0]->agg, t->lines[i].values[0], &b);
		for (uint32_t j = 0; j < b.n; j++) {
			if (dt_bucket_count(&b, j, 1) != 0) {
				lo = j < lo ? j : lo;
				hi = j > hi ? j : hi;
			}
		}
	}
	if (lo > hi)
		lo = hi = DT_QUANTIZE_ZERO;
	p->first = lo > 0 && lo != DT_QUANTIZE_ZERO ? lo - 1 : lo;
	p->last = hi + 1 < b.n ? hi + 1 : hi;
	snprintf(p->min, sizeof(p->min), "%lld", (long long)dt_bucket_bound(&b, p->first));
	snprintf(p->max, sizeof(p->max), "%lld", (long long)dt_bucket_bound(&b, p->last));
}

static void pack_widths(struct pack *p, const dt_agg *agg)
{
	int min = (int)strlen(p->min), max = (int)strlen(p->max), wide = min > max ? min : max;

	if (agg->func == DT_ACT_LQUANTIZE) {
		p->max_width = wide > 8 ? wide : 8;
		p->min_width = wide > 7 ? wide + 1 : 8;
	} else {
		p->max_width = wide > 4 ? wide : 4;
		p->min_width = p->max_width + 1;
	}
}

/* One cell: eight heights, or in ASCII three; 0 is blank. */
static void put_cell(dt_buf *out, const struct pack *p, int64_t count, unsigned __int128 total,
		     uint32_t unit)
{
	static const char *const blocks[] = {"\u2581", "\u2582", "\u2583", "\u2584",
					     "\u2585", "\u2586", "\u2587", "\u2588"};
	uint64_t size = count < 0 ? -(uint64_t)count : (uint64_t)count;
	unsigned __int128 level = 0;

	if (count == 0) {
		dt_buf_putc(out, ' ');
		return;
	}
	if (total)
		level = ((unsigned __int128)size * 7 * unit * 2 + total) / (total * 2);
	if (level > 7)
		level = 7;
	if (p->utf8 && count > 0)
		dt_buf_puts(out, blocks[(size_t)level]);
	else if (level < 2)
		dt_buf_putc(out, '_');
	else
		dt_buf_putc(out, count < 0 ? (level < 6 ? 'v' : 'V') : (level < 6 ? 'x' : 'X'));
}

static void put_pack_line(dt_buf *out, const struct pack *p, const dt_aggset *set,
			  const dt_aggline *l)
{
	unsigned __int128 total = 0, max = 0;
	__int128 sum = 0;
	struct dt_buckets b;

	dt_buckets_of(set->agg, l->values[0], &b);
	for (uint32_t i = 0; i < b.n; i++) {
		__int128 n = dt_bucket_count(&b, i, 1);
		unsigned __int128 size = n < 0 ? -n : n;

		sum += n;
		total += size;
		max = size > max ? size : max;
	}
	dt_buf_printf(out, "%*s :", p->min_width, p->min);
	for (uint32_t i = p->first; i <= p->last; i++)
		put_cell(out, p, dt_bucket_count(&b, i, 1), p->zoom ? max * 20 : total,
			 p->zoom ? 19 : 1);
	dt_buf_printf(out, ": %-*s | %lld\n", p->max_width, p->max,
		      (long long)(sum / (__int128)(set->normal ? set->normal : 1)));
}

static void put_packed(dt_buf *out, const dt_aggtable *t, const struct dt_consumer_env *env)
{
	struct pack p = {.utf8 = dt_text_utf8(env->opts, true),
			 .zoom = dt_opt(env->opts, DT_O_AGGZOOM)};
	const dt_agg *agg = t->sets[0]->agg;

	pack_range(&p, t);
	pack_widths(&p, agg);
	dt_buf_putc(out, '\n');
	if (agg->nkeys)
		dt_buf_printf(out, "%*s", keys_width(&t->lines[0]), "key");
	dt_buf_printf(out, "%*s .", p.min_width, "min");
	for (uint32_t i = p.first; i <= p.last; i++)
		dt_buf_putc(out, '-');
	dt_buf_printf(out, ". %-*s | count\n", p.max_width, "max");
	for (uint32_t i = 0; i < t->nlines; i++) {
		put_keys(out, &t->lines[i], env);
		put_pack_line(out, &p, t->sets[0], &t->lines[i]);
	}
}

void dt_text_pack(dt_buf *out, const dt_aggtable *t, const struct dt_consumer_env *env)
{
	if (is_hist(t->sets[0]->agg))
		put_hist(out, t, env);
	else
		put_packed(out, t, env);
}

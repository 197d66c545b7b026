/*
 * text_quantize: distributions as graphs.
 *
 *            value  ------------- Distribution ------------- count
 *                0 |                                         0
 *                1 |@@@@@@@@@@@@@                            123
 *                2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@              247
 *                4 |                                         0
 *
 * A bar is count / total of 40 columns, rounded; the total is the sum of all counts without their
 * signs. Negative counts grow to the left; where both signs occur, each has 20 columns. aggzoom
 * makes the largest bar 95% of the width. With encoding=utf8 bars end in eighths of a column,
 * rounded down. Totals can pass 64 bits, so they are kept in 128.
 */
#include <stdlib.h>

#include "consume/writer.h"
#include "dif/quantize.h"

#define WIDTH 40

bool dt_text_utf8(const dt_options *opts, bool by_default)
{
	uint64_t encoding = dt_opt(opts, DT_O_ENCODING);
	const char *term;

	if (encoding != DT_ENCODING_UNSET || !by_default)
		return encoding == DT_ENCODING_UTF8;
	term = getenv("TERM");
	return !term || (strcmp(term, "sun") != 0 && strcmp(term, "sun-color") != 0 &&
			 strcmp(term, "dumb") != 0);
}

/* ---- bars ---- */

static void repeat(dt_buf *out, const char *s, uint32_t n)
{
	while (n-- > 0)
		dt_buf_puts(out, s);
}

/* How many of `parts` parts the count fills; `half`: rounded, else cut. */
static uint32_t filled(const struct dt_bar_scale *s, uint64_t count, uint32_t parts, bool half)
{
	unsigned __int128 n = (unsigned __int128)count * parts * s->unit;
	unsigned __int128 q;

	if (s->total == 0)
		return 0;
	q = half ? (n * 2 + s->total) / (s->total * 2) : n / s->total;
	return q > parts ? parts : (uint32_t)q;
}

static void put_right(dt_buf *out, const struct dt_bar_scale *s, uint64_t count)
{
	static const char *const eighths[] = {"",	"\u258f", "\u258e", "\u258d",
					      "\u258c", "\u258b", "\u258a", "\u2589"};
	uint32_t n;

	if (!s->utf8) {
		n = filled(s, count, WIDTH, true);
		repeat(out, "@", n);
		repeat(out, " ", WIDTH - n);
		return;
	}
	n = filled(s, count, WIDTH * 8, false);
	repeat(out, "\u2588", n / 8);
	dt_buf_puts(out, eighths[n % 8]);
	repeat(out, " ", WIDTH - n / 8 - (n % 8 != 0));
}

void dt_text_bar(dt_buf *out, const struct dt_bar_scale *s, int64_t count)
{
	uint64_t size = count < 0 ? -(uint64_t)count : (uint64_t)count;
	const char *cell = s->utf8 ? "\u2588" : "@";
	uint32_t n;

	if (!s->negative) {
		dt_buf_putc(out, '|');
		put_right(out, s, count > 0 ? size : 0);
	} else if (!s->positive) {
		n = filled(s, size, WIDTH, true);
		repeat(out, " ", WIDTH - n);
		repeat(out, cell, n);
		dt_buf_putc(out, '|');
	} else {
		n = filled(s, size, WIDTH / 2, true);
		repeat(out, " ", count < 0 ? WIDTH / 2 - n : WIDTH / 2);
		repeat(out, cell, count < 0 ? n : 0);
		dt_buf_putc(out, '|');
		repeat(out, cell, count < 0 ? 0 : n);
		repeat(out, " ", count < 0 ? WIDTH / 2 : WIDTH / 2 - n);
	}
}

void dt_text_bar_head(dt_buf *out, const char *label, int width)
{
	dt_buf_printf(out, "\n%*s %41s %-9s\n", width, label,
		      "------------- Distribution -------------", "count");
}

/* ---- distributions ---- */

static void find_scale(const struct dt_buckets *b, const dt_options *opts, struct dt_bar_scale *s)
{
	uint64_t max = 0;

	*s = (struct dt_bar_scale){.unit = 1, .utf8 = dt_text_utf8(opts, false)};
	for (uint32_t i = 0; i < b->n; i++) {
		int64_t count = dt_bucket_count(b, i, 1);
		uint64_t size = count < 0 ? -(uint64_t)count : (uint64_t)count;

		s->positive |= count > 0;
		s->negative |= count < 0;
		s->total += size;
		max = size > max ? size : max;
	}
	if (dt_opt(opts, DT_O_AGGZOOM)) {
		s->total = (unsigned __int128)max * 20; /* max / 0.95 */
		s->unit = 19;
	}
}

/* From one bucket before the first that counts to one after the last. */
static void find_range(const struct dt_buckets *b, uint32_t *first, uint32_t *last)
{
	uint32_t lo = 0, hi = b->n;

	while (lo < b->n && dt_bucket_count(b, lo, 1) == 0)
		lo++;
	while (hi > lo && dt_bucket_count(b, hi - 1, 1) == 0)
		hi--;
	if (lo == b->n) { /* no counts: around zero, or the first three; of llquantize() two */
		uint32_t more = b->func == DT_ACT_LLQUANTIZE ? 1 : 2;

		*first = b->func == DT_ACT_QUANTIZE ? DT_QUANTIZE_ZERO - 1 : 0;
		*last = *first + more < b->n ? *first + more : b->n - 1;
		return;
	}
	*first = lo > 0 ? lo - 1 : 0;
	*last = hi < b->n ? hi : b->n - 1;
}

static void put_label(dt_buf *out, const struct dt_buckets *b, uint32_t i)
{
	char text[32];
	const char *edge = "";

	if (b->func != DT_ACT_QUANTIZE && i == 0)
		edge = "< ";
	if (b->func != DT_ACT_QUANTIZE && i == b->n - 1)
		edge = ">= ";
	snprintf(text, sizeof(text), "%s%lld", edge, (long long)dt_bucket_bound(b, i));
	dt_buf_printf(out, "%16s ", text);
}

/* ---- percentiles ---- */

/* Where in a bucket; at an open end all that is known is the bound. */
static int64_t inside(const struct dt_buckets *b, uint32_t i, unsigned __int128 part, unsigned __int128 whole)
{
	int64_t low, high;

	dt_bucket_range(b, i, &low, &high);
	if (low == INT64_MIN || high == INT64_MAX)
		return low == INT64_MIN ? high : low;
	return low + (int64_t)((unsigned __int128)(uint64_t)(high - low) * part / whole);
}

int64_t dt_agg_quantile(const dt_agg *agg, const uint64_t *value, uint32_t part, uint32_t whole)
{
	unsigned __int128 total = 0, before = 0, rank;
	struct dt_buckets b;

	if (!dt_buckets_of(agg, value, &b))
		return 0;
	for (uint32_t i = 0; i < b.n; i++)
		if (dt_bucket_count(&b, i, 1) > 0)
			total += (uint64_t)dt_bucket_count(&b, i, 1);
	rank = total * part; /* of total * whole */
	for (uint32_t i = 0; i < b.n && total; i++) {
		int64_t count = dt_bucket_count(&b, i, 1);

		if (count <= 0)
			continue;
		if (before + (unsigned __int128)count * whole >= rank)
			return inside(&b, i, rank - before, (unsigned __int128)count * whole);
		before += (unsigned __int128)count * whole;
	}
	return 0;
}

void dt_text_quantize(dt_buf *out, const dt_agg *agg, const uint64_t *value, uint64_t normal,
		      const dt_options *opts)
{
	struct dt_bar_scale s;
	struct dt_buckets b;
	uint32_t first, last;

	if (!dt_buckets_of(agg, value, &b))
		return;
	find_scale(&b, opts, &s);
	find_range(&b, &first, &last);
	dt_text_bar_head(out, "value", 16);
	for (uint32_t i = first; i <= last; i++) {
		put_label(out, &b, i);
		dt_text_bar(out, &s, dt_bucket_count(&b, i, 1));
		dt_buf_printf(out, " %-9lld\n", (long long)dt_bucket_count(&b, i, normal));
	}
}

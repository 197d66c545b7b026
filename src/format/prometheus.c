/*
 * prometheus: aggregations as metrics, in the text format that Prometheus scrapes.
 *
 *	# TYPE dtrace_reads_total counter
 *	dtrace_reads_total{execname="cat"} 12
 *
 * The name of an aggregation is the name of the metric, its keys are labels with the names in the
 * program. count() and sum() are counters; a sum with a negative value is a gauge; avg() is a
 * summary with sum and count; min(), max() and stddev() are gauges; distributions are histograms,
 * whose bounds are the largest number of each bucket. Everything is written at the end, with the
 * values at that time, without normalize().
 */
#include <stdlib.h>

#include "dif/quantize.h"
#include "format/formats.h"
#include "format/samples.h"

struct dt_writer {
	const struct dt_consumer_env *env;
	dt_buf out;
	dt_buf labels, part;
};

static dt_writer *prometheus_open(const struct dt_consumer_env *env)
{
	dt_writer *w = dt_xcalloc(1, sizeof(*w));

	w->env = env;
	return w;
}

static void prometheus_close(dt_writer *w)
{
	dt_buf_free(&w->out);
	dt_buf_free(&w->labels);
	dt_buf_free(&w->part);
	free(w);
}

/* ---- names and labels ---- */

/* Letters, digits and underscores, and no digit first. */
static void put_name(dt_buf *out, const char *s)
{
	if (*s >= '0' && *s <= '9')
		dt_buf_putc(out, '_');
	for (; *s; s++) {
		bool ok = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
			  (*s >= '0' && *s <= '9');

		dt_buf_putc(out, ok ? *s : '_');
	}
}

static void put_label_value(dt_buf *out, const char *s, size_t n)
{
	for (size_t i = 0, len; i < n; i += len) {
		len = dt_utf8_length(s + i, n - i);
		if (len == 0) {
			dt_buf_puts(out, "\xef\xbf\xbd");
			len = 1;
		} else if (s[i] == '\n') {
			dt_buf_puts(out, "\\n");
		} else if (s[i] == '\\' || s[i] == '"') {
			dt_buf_putc(out, '\\');
			dt_buf_putc(out, s[i]);
		} else {
			dt_buf_add(out, s + i, len);
		}
	}
}

/* Two keys of one name ("arg0, arg0") must not be two labels of one name. */
static bool is_taken(const dt_agg *agg, uint32_t i, const char *name)
{
	dt_buf other = {0};
	bool taken = strcmp(name, "le") == 0;

	for (uint32_t k = 0; k < agg->nkeys && !taken; k++) {
		dt_buf_reset(&other);
		dt_key_name(&other, agg, k);
		taken = k != i && strcmp(other.s, name) == 0;
	}
	dt_buf_free(&other);
	return taken;
}

/* The keys of a line, as labels without braces: into w->labels. */
static void make_labels(dt_writer *w, const dt_aggline *l)
{
	dt_buf_reset(&w->labels);
	for (uint32_t i = 0; i < l->agg->nkeys; i++) {
		dt_value v;

		dt_buf_reset(&w->part);
		dt_key_name(&w->part, l->agg, i);
		if (is_taken(l->agg, i, w->part.s)) {
			dt_buf_reset(&w->part);
			dt_buf_printf(&w->part, "key%u", i + 1);
		}
		if (i > 0)
			dt_buf_putc(&w->labels, ',');
		put_name(&w->labels, w->part.s);
		dt_buf_puts(&w->labels, "=\"");
		dt_value_of(&l->agg->keys[i], &l->keys[i], &v);
		dt_buf_reset(&w->part);
		dt_key_text(&w->part, &v, w->env);
		put_label_value(&w->labels, w->part.s, w->part.n);
		dt_buf_putc(&w->labels, '"');
	}
}

/* ---- metrics ---- */

struct metric {
	const char *name;   /* of the family */
	const char *type;   /* "counter" ... */
	const char *suffix; /* of a plain number */
	dt_buf base;	    /* "dtrace_reads" */
};

static void put_number(dt_writer *w, const struct metric *m, const char *suffix, const char *le,
		       __int128 value)
{
	unsigned __int128 size = value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
	char digits[48], *p = digits + sizeof(digits);

	*--p = 0;
	do
		*--p = (char)('0' + (int)(size % 10));
	while (size /= 10);
	if (value < 0)
		*--p = '-';
	dt_buf_printf(&w->out, "%s%s", m->base.s, suffix);
	if (w->labels.n || le) {
		dt_buf_puts(&w->out, "{");
		if (w->labels.n)
			dt_buf_puts(&w->out, w->labels.s);
		if (le)
			dt_buf_printf(&w->out, "%sle=\"%s\"", w->labels.n ? "," : "", le);
		dt_buf_puts(&w->out, "}");
	}
	dt_buf_printf(&w->out, " %s\n", p);
}

/* The buckets that are written: from the lowest that counts anywhere, or zero, to the highest. */
struct range {
	uint32_t first, last;
};

static struct range used_range(const dt_aggtable *t, uint32_t which)
{
	const dt_agg *agg = t->sets[which]->agg;
	struct dt_buckets b;
	struct range r;

	dt_buckets_of(agg, NULL, &b);
	r = (struct range){agg->func == DT_ACT_QUANTIZE ? DT_QUANTIZE_ZERO : 0,
			   agg->func == DT_ACT_QUANTIZE ? DT_QUANTIZE_ZERO : b.n - 1};
	for (uint32_t i = 0; i < t->nlines; i++) {
		dt_buckets_of(agg, t->lines[i].values[which], &b);
		for (uint32_t j = 0; j < b.n; j++) {
			if (dt_bucket_count(&b, j, 1) == 0)
				continue;
			r.first = j < r.first ? j : r.first;
			r.last = j > r.last ? j : r.last;
		}
	}
	return r;
}

static void put_histogram(dt_writer *w, const struct metric *m, const struct dt_buckets *b,
			  struct range r)
{
	__int128 total = 0;
	char le[32];

	for (uint32_t i = 0; i < b->n; i++) {
		int64_t low, high;

		dt_bucket_range(b, i, &low, &high);
		total += dt_bucket_count(b, i, 1);
		if (i < r.first || i > r.last || high == INT64_MAX)
			continue;
		snprintf(le, sizeof(le), "%lld", (long long)high);
		put_number(w, m, "_bucket", le, total);
	}
	put_number(w, m, "_bucket", "+Inf", total);
	put_number(w, m, "_count", NULL, total);
}

static bool any_below_zero(const dt_aggtable *t, uint32_t which)
{
	for (uint32_t i = 0; i < t->nlines; i++)
		if (dt_agg_number(t->sets[which]->agg, t->lines[i].values[which], 1) < 0)
			return true;
	return false;
}

static void choose_type(struct metric *m, const dt_aggtable *t, uint32_t which)
{
	m->type = "gauge";
	m->suffix = "";
	switch (t->sets[which]->agg->func) {
	case DT_ACT_SUM:
		if (any_below_zero(t, which))
			break;
		/* fall through */
	case DT_ACT_COUNT:
		m->type = "counter";
		m->suffix = "_total";
		break;
	case DT_ACT_AVG: m->type = "summary"; break;
	default:
		if (dt_agg_is_quantizer(t->sets[which]->agg))
			m->type = "histogram";
	}
}

static void put_line(dt_writer *w, const struct metric *m, const dt_agg *agg, const uint64_t *value,
		     struct range r)
{
	struct dt_buckets b;

	if (dt_buckets_of(agg, value, &b)) {
		put_histogram(w, m, &b, r);
	} else if (agg->func == DT_ACT_AVG && agg->nwords >= 2) {
		put_number(w, m, "_sum", NULL, (int64_t)value[1]);
		put_number(w, m, "_count", NULL, (int64_t)value[0]);
	} else {
		put_number(w, m, m->suffix, NULL, dt_agg_number(agg, value, 1));
	}
}

static void put_family(dt_writer *w, const dt_aggtable *t, uint32_t which)
{
	const dt_agg *agg = t->sets[which]->agg;
	bool quantizer = dt_agg_is_quantizer(agg);
	struct range r = {0};
	struct dt_buckets b;
	struct metric m = {0};

	if (quantizer && !dt_buckets_of(agg, NULL, &b))
		return;
	if (quantizer)
		r = used_range(t, which);
	dt_buf_puts(&m.base, "dtrace_");
	put_name(&m.base, strcmp(agg->name, "_") == 0 ? "aggregation" : agg->name);
	choose_type(&m, t, which);
	dt_buf_printf(&w->out, "# HELP %s%s %s() of @%s\n# TYPE %s%s %s\n", m.base.s, m.suffix,
		      dt_act_name(agg->func), strcmp(agg->name, "_") == 0 ? "" : agg->name,
		      m.base.s, m.suffix, m.type);
	for (uint32_t i = 0; i < t->nlines; i++) {
		if (!t->lines[i].values[which])
			continue;
		make_labels(w, &t->lines[i]);
		put_line(w, &m, agg, t->lines[i].values[which], r);
	}
	dt_buf_free(&m.base);
}

static int prometheus_aggs(dt_writer *w, const dt_aggtable *t, dt_error *err)
{
	(void)err;
	for (uint32_t i = 0; i < t->nsets && t->at_exit; i++)
		put_family(w, t, i);
	return 0;
}

static dt_buf *prometheus_output(dt_writer *w)
{
	return &w->out;
}

const struct dt_writer_ops dt_writer_prometheus = {
    .name = "prometheus",
    .flags = DT_WRITER_DOCUMENT | DT_WRITER_ALL_AGGS,
    .open = prometheus_open,
    .close = prometheus_close,
    .aggs = prometheus_aggs,
    .output = prometheus_output,
};

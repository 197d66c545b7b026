/*
 * top_table: the rows of all aggregations at one moment, beside those of the moment before, drawn
 * as one table for each aggregation.
 *
 *	@[execname] count(): 3 keys
 *	  cat                             1203     12.0/s ########
 *	  sh                                12      0.0/s #
 *
 * The largest come first. A number has a rate (how much it grew in a second) and a bar; of min(),
 * max() and stddev() there is no rate. A distribution is a row of cells from its lowest to its
 * highest bucket, the fuller the darker, as a heat map. A stack is shown by its innermost frames.
 * Keys come from traced programs: control characters become '?'.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "args.h"
#include "top.h"
#include "value_text.h"

#define ERASE	"\033[K\n" /* the rest of the line */
#define BUCKETS 512	   /* columns of a heat map, before they are put together */
#define FRAMES	6	   /* shown of a stack */
#define VALUE	14	   /* columns of a number */
#define RATE	12
#define MIN_BAR 8

struct row {
	unsigned agg; /* index of its table */
	char *key;
	int64_t value;
	int64_t added; /* what rates are made of: counts, sums */
	double rate;
	struct dtrace_bucket *buckets;
	unsigned nbuckets;
};

struct agg {
	unsigned id;
	char name[64], function[16], keys[128];
	bool has_rate, distribution;
	int first, n; /* rows */
};

struct moment {
	struct agg *aggs;
	int naggs;
	struct row *rows;
	int nrows, room;
	double time;
};

struct top_table {
	struct moment now, before;
};

top_table *top_table_new(void)
{
	top_table *t = calloc(1, sizeof(*t));

	if (!t)
		fatal("out of memory");
	return t;
}

static void forget(struct moment *m)
{
	for (int i = 0; i < m->nrows; i++) {
		free(m->rows[i].key);
		free(m->rows[i].buckets);
	}
	free(m->rows);
	free(m->aggs);
	memset(m, 0, sizeof(*m));
}

void top_table_free(top_table *t)
{
	if (!t)
		return;
	forget(&t->now);
	forget(&t->before);
	free(t);
}

/* ---- keys as text ---- */

static char *make_key(const dtrace_row_t *r, unsigned nkeys)
{
	struct text t = {0};

	for (unsigned i = 0; i < nkeys; i++) {
		text_string(&t, i ? ", " : "");
		text_value(&t, dtrace_row_key(r, i), FRAMES);
	}
	for (size_t i = 0; i < t.n; i++)
		if (t.s[i] == '\n' || t.s[i] == '\t')
			t.s[i] = '?';
	dtrace_make_safe(t.s, t.n, 1);
	return strdup(t.s);
}

/* ---- taking ---- */

static void name_keys(struct agg *a, const dtrace_row_t *r, unsigned nkeys)
{
	struct text t = {0};

	for (unsigned i = 0; i < nkeys; i++) {
		const struct dtrace_valueinfo *v = dtrace_value_info(dtrace_row_key(r, i));

		text_string(&t, i ? ", " : "");
		text_string(&t, v->name				? v->name
				: v->kind == DTRACE_VALUE_STACK ? "stack"
								: "...");
	}
	snprintf(a->keys, sizeof(a->keys), "%.*s", (int)sizeof(a->keys) - 1, t.s);
}

static void begin_agg(struct moment *m, const dtrace_row_t *r, const struct dtrace_rowinfo *i)
{
	struct agg *a = realloc(m->aggs, (size_t)(m->naggs + 1) * sizeof(*a));

	if (!a)
		fatal("out of memory");
	m->aggs = a;
	a += m->naggs++;
	memset(a, 0, sizeof(*a));
	a->id = i->id;
	a->first = m->nrows;
	snprintf(a->name, sizeof(a->name), "@%s", strcmp(i->name, "_") == 0 ? "" : i->name);
	snprintf(a->function, sizeof(a->function), "%s", i->function);
	a->distribution = strstr(i->function, "quantize") != NULL;
	a->has_rate = a->distribution || strcmp(i->function, "count") == 0 ||
		      strcmp(i->function, "sum") == 0 || strcmp(i->function, "avg") == 0;
	name_keys(a, r, i->nkeys);
}

static int take_row(const dtrace_row_t *r, void *arg)
{
	const struct dtrace_rowinfo *i = dtrace_row_info(r);
	struct moment *m = arg;
	struct row *row;

	if (m->naggs == 0 || m->aggs[m->naggs - 1].id != i->id)
		begin_agg(m, r, i);
	if (m->nrows == m->room) {
		m->room = m->room ? m->room * 2 : 64;
		m->rows = realloc(m->rows, (size_t)m->room * sizeof(*m->rows));
		if (!m->rows)
			fatal("out of memory");
	}
	row = &m->rows[m->nrows++];
	*row = (struct row){.agg = (unsigned)m->naggs - 1,
			    .key = make_key(r, i->nkeys),
			    .value = i->value,
			    .added = i->value};
	if (strcmp(i->function, "avg") == 0)
		row->added = (int64_t)i->count;
	if (i->nbuckets && (row->buckets = calloc(i->nbuckets, sizeof(*row->buckets)))) {
		memcpy(row->buckets, i->buckets, i->nbuckets * sizeof(*row->buckets));
		row->nbuckets = i->nbuckets;
		for (unsigned k = 0; k < i->nbuckets; k++)
			row->added += i->buckets[k].count;
	}
	if (!row->key)
		fatal("out of memory");
	m->aggs[m->naggs - 1].n++;
	return 0;
}

static int by_key(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->agg != y->agg ? (x->agg > y->agg ? 1 : -1) : strcmp(x->key, y->key);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Both moments are sorted by key meanwhile. An aggregation keeps its place among the others. */
static void find_rates(struct moment *now, const struct moment *before)
{
	double passed = now->time - before->time;

	for (int i = 0; i < now->nrows; i++) {
		struct row *r = &now->rows[i];
		const struct row *old =
		    before->nrows
			? bsearch(r, before->rows, (size_t)before->nrows, sizeof(*old), by_key)
			: NULL;
		int64_t more = r->added - (old ? old->added : 0);

		r->rate = before->time > 0 && passed > 0 && more > 0 ? (double)more / passed
								     : 0; /* less: it was cleared */
	}
}

static int by_value(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int64_t vx = x->nbuckets ? x->added : x->value, vy = y->nbuckets ? y->added : y->value;

	if (x->agg != y->agg)
		return x->agg > y->agg ? 1 : -1;
	return vx != vy ? (vx < vy ? 1 : -1) : strcmp(x->key, y->key);
}

static int by_rate(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->agg == y->agg && x->rate != y->rate ? (x->rate < y->rate ? 1 : -1)
						      : by_value(a, b);
}

void top_table_take(top_table *t, dtrace_hdl_t *h)
{
	forget(&t->before);
	t->before = t->now;
	memset(&t->now, 0, sizeof(t->now));
	t->now.time = seconds();
	dtrace_aggregate_walk(h, take_row, &t->now);
	if (t->before.nrows)
		qsort(t->before.rows, (size_t)t->before.nrows, sizeof(struct row), by_key);
	find_rates(&t->now, &t->before);
}

/* ---- drawing ---- */

/* The columns that text takes: characters. */
static int columns(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

/* In exactly that many columns; without UTF-8 other characters are '?'. */
static void put_field(FILE *out, const char *s, int width, bool utf8)
{
	bool cut = columns(s) > width;
	int n = 0;

	while (*s && n < width - (cut ? 2 : 0)) {
		int len = 1;

		while ((s[len] & 0xc0) == 0x80)
			len++;
		if (len > 1 && !utf8)
			fputc('?', out);
		else
			fwrite(s, 1, (size_t)len, out);
		s += len;
		n++;
	}
	if (cut && width >= 2)
		n += fprintf(out, "..");
	fprintf(out, "%*s", width - n > 0 ? width - n : 0, "");
}

static void put_bar(FILE *out, double share, int width, const struct top_style *st)
{
	static const char *const eighths[] = {"",	"\u258f", "\u258e", "\u258d",
					      "\u258c", "\u258b", "\u258a", "\u2589"};
	int n = (int)(share * width * (st->utf8 ? 8 : 1) + .5);

	fputs(st->colour ? "\033[36m" : "", out);
	for (int i = 0; i < (st->utf8 ? n / 8 : n); i++)
		fputs(st->utf8 ? "\u2588" : "#", out);
	if (st->utf8)
		fputs(eighths[n % 8], out);
	fputs(st->colour ? "\033[0m" : "", out);
}

static void put_numbers(FILE *out, int64_t value, double rate, bool has_rate)
{
	fprintf(out, " %*lld ", VALUE - 1, (long long)value);
	if (has_rate)
		fprintf(out, "%*.1f/s ", RATE - 3, rate);
	else
		fprintf(out, "%*s", RATE, "");
}

/* ---- heat maps ---- */

struct heat {
	int64_t low[BUCKETS]; /* of each column */
	int n;
	int cells; /* on the screen */
	int64_t high;
};

static int compare_low(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The bucket after one, where that is known from the function: empty ones are columns as well. */
static bool next_low(const struct agg *a, int64_t low, int64_t high, int64_t step, int64_t *next)
{
	if (high == INT64_MAX)
		return false;
	if (strcmp(a->function, "quantize") == 0)
		*next = low < -1 ? low / 2 : low == -1 ? 0 : low == 0 ? 1 : low * 2;
	else if (strcmp(a->function, "lquantize") == 0 && step > 0)
		*next = high == low + step - 1 ? low + step : high + 1;
	else
		return false;
	return true;
}

static void add_column(struct heat *heat, int64_t low)
{
	for (int i = 0; i < heat->n; i++)
		if (heat->low[i] == low)
			return;
	if (heat->n < BUCKETS)
		heat->low[heat->n++] = low;
}

/* quantize() names a bucket below zero by its end that is nearer to zero. */
static int64_t column_of(const struct agg *a, const struct dtrace_bucket *b)
{
	return strcmp(a->function, "quantize") == 0 && b->high < 0 ? b->high : b->low;
}

static void find_columns(struct heat *heat, const struct agg *a, const struct row *rows)
{
	int64_t least = INT64_MAX, most = INT64_MIN, high = 0, step = 0, low, next;

	memset(heat, 0, sizeof(*heat));
	for (int i = 0; i < a->n; i++) {
		for (unsigned k = 0; k < rows[i].nbuckets; k++) {
			const struct dtrace_bucket *b = &rows[i].buckets[k];

			low = column_of(a, b);
			add_column(heat, low);
			least = low < least ? low : least;
			if (low >= most) {
				most = low;
				heat->high = b->high;
			}
			if (b->low != INT64_MIN && b->high != INT64_MAX)
				step = b->high - b->low + 1;
			if (low == least)
				high = b->high;
		}
	}
	for (low = least; heat->n && heat->n < BUCKETS && low < most; low = next) {
		if (!next_low(a, low, low == least ? high : low + step - 1, step, &next) ||
		    next > most)
			break;
		add_column(heat, next);
	}
	qsort(heat->low, (size_t)heat->n, sizeof(*heat->low), compare_low);
}

static void put_cell(FILE *out, double share, const struct top_style *st)
{
	static const char ascii[] = " .:-=+*#%@";
	static const char *const blocks[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
					     "\u2585", "\u2586", "\u2587", "\u2588"};
	static const int ramp[] = {236, 53,  89,  125, 161,
				   196, 202, 208, 220, 226}; /* dark to bright */
	int level = share <= 0 ? 0 : 1 + (int)(share * 8.99);

	if (level > 9)
		level = 9;
	if (st->colour)
		fprintf(out, "\033[48;5;%dm\033[30m", ramp[level]);
	if (st->utf8)
		fputs(st->colour ? " " : blocks[level > 8 ? 8 : level], out);
	else
		fputc(ascii[level], out);
	if (st->colour)
		fputs("\033[0m", out);
}

static void put_heat(FILE *out, const struct heat *heat, const struct agg *a, const struct row *r,
		     const struct top_style *st)
{
	int64_t count[BUCKETS] = {0}, most = 0;

	for (unsigned k = 0; k < r->nbuckets; k++) {
		int64_t low = column_of(a, &r->buckets[k]);
		const int64_t *at =
		    bsearch(&low, heat->low, (size_t)heat->n, sizeof(low), compare_low);
		int cell = at ? (int)((at - heat->low) * heat->cells / heat->n) : 0;

		count[cell] += r->buckets[k].count;
	}
	for (int i = 0; i < heat->cells; i++)
		most = count[i] > most ? count[i] : most;
	fputc('|', out);
	for (int i = 0; i < heat->cells; i++)
		put_cell(out, most ? (double)count[i] / (double)most : 0, st);
	fputc('|', out);
}

/* ---- tables ---- */

static int key_width(const struct agg *a, const struct row *rows, int most)
{
	int width = 8;

	for (int i = 0; i < a->n; i++) {
		int n = columns(rows[i].key);

		width = n > width ? n : width;
	}
	return width < most ? width : most > 8 ? most : 8;
}

static void put_head(FILE *out, const struct agg *a, const struct heat *heat,
		     const struct top_style *st)
{
	char text[512];
	int n = snprintf(text, sizeof(text), "%s%s%s%s %s()", a->name, a->keys[0] ? "[" : "",
			 a->keys, a->keys[0] ? "]" : "", a->function);

	if (a->keys[0])
		n += snprintf(text + n, sizeof(text) - (size_t)n, ": %d key%s", a->n,
			      a->n == 1 ? "" : "s");
	if (a->distribution && heat->n) {
		n += snprintf(text + n, sizeof(text) - (size_t)n, ", from %lld to ",
			      (long long)heat->low[0]);
		if (heat->high == INT64_MAX)
			snprintf(text + n, sizeof(text) - (size_t)n, "%lld and above",
				 (long long)heat->low[heat->n - 1]);
		else
			snprintf(text + n, sizeof(text) - (size_t)n, "%lld", (long long)heat->high);
	}
	fputs(st->colour ? "\033[1m" : "", out);
	put_field(out, text, st->width, st->utf8);
	fputs(st->colour ? "\033[0m" ERASE : ERASE, out);
}

/* `lines` of them at most; how many were drawn. */
static int put_agg(FILE *out, const struct agg *a, const struct row *rows, int lines,
		   const struct top_style *st)
{
	int width = key_width(a, rows, st->width - 2 - VALUE - RATE - MIN_BAR - 2);
	int left = st->width - 2 - width - VALUE - RATE - 1,
	    shown = a->n < lines - 1 ? a->n : lines - 1;
	struct heat heat = {.n = 0};
	double most = 0;

	if (lines < 1)
		return 0;
	if (a->distribution) {
		find_columns(&heat, a, rows);
		heat.cells = heat.n < left - 2 ? heat.n : left > 3 ? left - 2 : 1;
	}
	put_head(out, a, &heat, st);
	for (int i = 0; i < a->n; i++)
		most = (double)rows[i].value > most ? (double)rows[i].value : most;
	for (int i = 0; i < shown; i++) {
		fputs("  ", out);
		if (i == shown - 1 && i > 0 && shown < a->n) {
			fprintf(out, "... and %d more" ERASE, a->n - i);
			break;
		}
		put_field(out, rows[i].key, width, st->utf8);
		put_numbers(out, a->distribution ? rows[i].added : rows[i].value, rows[i].rate,
			    a->has_rate);
		if (a->distribution)
			put_heat(out, &heat, a, &rows[i], st);
		else if (left > 0 && most > 0 && rows[i].value > 0)
			put_bar(out, (double)rows[i].value / most, left, st);
		fputs(ERASE, out);
	}
	return shown + 1;
}

void top_table_draw(top_table *t, const struct top_style *st, FILE *out)
{
	struct moment *m = &t->now;
	int left = st->height;

	if (m->nrows)
		qsort(m->rows, (size_t)m->nrows, sizeof(struct row),
		      st->by_rate ? by_rate : by_value);
	else
		fputs("no aggregations yet" ERASE, out);
	for (int i = 0; i < m->naggs && left > 1; i++) {
		int share =
		    left / (m->naggs - i); /* what this one does not need goes to the next */

		left -= put_agg(out, &m->aggs[i], m->rows + m->aggs[i].first, share > 2 ? share : 2,
				st);
	}
}

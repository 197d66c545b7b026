/*
 * serve_past: what the charts show of the time before a page was opened, or while it had no connection.
 *
 * Of every frame each aggregation keeps a point, already as text for the page:
 *
 *	[time, [[low, added], ...], [[row, number or [[low, added], ...]], ...]]
 *
 * The second member is what was added to the buckets of all rows (distributions only). The third has the KEPT largest rows:
 * their rate in a second, or their value where there is no rate (min(), max(), stddev()), or what was added to their
 * buckets. `row` is the number of a row in the list of keys. A row that has a rate and is missing had nothing added.
 *
 * Memory has a bound: an aggregation has POINTS points in BYTES bytes, of which the oldest are forgotten first, and ROWS
 * rows, of which those are forgotten that were not among the largest for the longest time; points may still have their
 * numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "serve.h"

#define POINTS 600 /* as many as the page draws */
#define BYTES  (1u << 20)
#define KEPT   50
#define ROWS   400

struct column { /* counts by bucket, sorted */
	struct step {
		int64_t low, count;
	} *v;
	size_t n, room;
};

struct row {
	char *keys; /* as JSON; NULL: this place is free */
	size_t nkeys;
	uint64_t number;
	uint64_t seen; /* the last frame that has it; 0: none yet */
	bool known;    /* `before` is that of the frame before */
	bool told;     /* a point has it */
	int64_t now, before;
	struct column buckets, buckets_before;
};

struct past {
	unsigned id;
	struct buffer head;
	bool has_rate, has_buckets;
	bool all;      /* its rows were all kept in the last frame */
	uint64_t time; /* ms, of the last point */
	struct column total, total_before;
	struct row rows[ROWS];
	uint64_t nrows; /* numbers that were given */
	struct buffer points[POINTS];
	uint64_t first, next; /* points that are kept; modulo POINTS */
	size_t bytes;
};

static struct past **pasts;
static size_t npasts;
static struct past *current;
static uint64_t frame; /* its number */

/* ---- columns ---- */

static void column_add(struct column *c, int64_t low, int64_t count)
{
	size_t at = c->n;

	while (at > 0 && c->v[at - 1].low > low)
		at--;
	if (at > 0 && c->v[at - 1].low == low) {
		c->v[at - 1].count += count;
		return;
	}
	if (c->n == c->room) {
		c->room = c->room ? 2 * c->room : 16;
		c->v = realloc(c->v, c->room * sizeof(*c->v));
		if (!c->v)
			fatal("out of memory");
	}
	memmove(c->v + at + 1, c->v + at, (c->n++ - at) * sizeof(*c->v));
	c->v[at] = (struct step){low, count};
}

static int64_t column_at(const struct column *c, int64_t low)
{
	size_t from = 0, to = c->n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (c->v[mid].low < low)
			from = mid + 1;
		else
			to = mid;
	}
	return from < c->n && c->v[from].low == low ? c->v[from].count : 0;
}

/* What is in one more than in the other. */
static void put_added(struct buffer *out, const struct column *now, const struct column *before)
{
	const char *comma = "";

	buffer_add(out, "[", 1);
	for (size_t i = 0; i < now->n; i++) {
		int64_t low = now->v[i].low, n = now->v[i].count - column_at(before, low);

		if (n <= 0)
			continue;
		if (low == INT64_MIN)
			buffer_print(out, "%s[null,%lld]", comma, (long long)n);
		else
			buffer_print(out, "%s[%lld,%lld]", comma, (long long)low, (long long)n);
		comma = ",";
	}
	buffer_add(out, "]", 1);
}

/* What is now will be what was before. */
static void column_turn(struct column *now, struct column *before)
{
	struct column old = *before;

	*before = *now;
	*now = old;
	now->n = 0;
}

/* ---- rows ---- */

static void row_free(struct row *r)
{
	free(r->keys);
	free(r->buckets.v);
	free(r->buckets_before.v);
	memset(r, 0, sizeof(*r));
}

static struct row *find_row(struct past *p, const char *keys, size_t n)
{
	struct row *oldest = p->rows;

	for (struct row *r = p->rows; r < p->rows + ROWS; r++) {
		if (r->keys && r->nkeys == n && memcmp(r->keys, keys, n) == 0)
			return r;
		if (oldest->keys && (!r->keys || r->seen < oldest->seen))
			oldest = r;
	}
	row_free(oldest);
	oldest->keys = malloc(n);
	if (!oldest->keys)
		fatal("out of memory");
	memcpy(oldest->keys, keys, n);
	oldest->nkeys = n;
	oldest->number = p->nrows++;
	oldest->known = p->next > 0 && p->all; /* it is new, not only among the largest */
	return oldest;
}

void past_row(const char *keys, size_t nkeys, const struct dtrace_rowinfo *i, int64_t value, size_t left)
{
	struct row *r;

	for (unsigned k = 0; k < i->nbuckets; k++)
		column_add(&current->total, i->buckets[k].low, i->buckets[k].count);
	if (left >= KEPT)
		return;
	r = find_row(current, keys, nkeys);
	if (r->seen != frame) {
		r->known = r->known && (r->seen == 0 || r->seen == frame - 1);
		r->seen = frame;
		r->now = 0;
	}
	r->now += value; /* rows may look the same: stacks that differ further out */
	for (unsigned k = 0; k < i->nbuckets; k++)
		column_add(&r->buckets, i->buckets[k].low, i->buckets[k].count);
}

static void put_row(const struct past *p, struct buffer *out, const struct row *r, double seconds)
{
	int64_t added = r->now - r->before;

	buffer_print(out, "[%llu,", (unsigned long long)r->number);
	if (p->has_buckets)
		put_added(out, &r->buckets, &r->buckets_before);
	else if (p->has_rate)
		buffer_print(out, "%.6g", added > 0 ? (double)added / seconds : 0);
	else
		buffer_print(out, "%lld", (long long)r->now);
	buffer_add(out, "]", 1);
}

static void put_rows(struct past *p, struct buffer *out, double seconds)
{
	bool any = false;

	for (struct row *r = p->rows; r < p->rows + ROWS; r++) {
		if (!r->keys || r->seen != frame)
			continue;
		if (p->has_rate && (!r->known || (r->told && r->now <= r->before)))
			continue;
		buffer_add(out, ",", any ? 1 : 0);
		put_row(p, out, r, seconds);
		r->told = any = true;
	}
}

/* ---- points ---- */

static void forget_oldest(struct past *p)
{
	p->bytes -= p->points[p->first % POINTS].n;
	buffer_free(&p->points[p->first++ % POINTS]);
}

static void end_point(struct past *p, uint64_t time)
{
	double seconds = (double)(time - p->time) / 1000;
	struct buffer *out;

	while (p->next - p->first == POINTS || (p->bytes > BYTES && p->next > p->first))
		forget_oldest(p);
	out = &p->points[p->next % POINTS];
	buffer_print(out, "[%llu,", (unsigned long long)time);
	if (p->next > 0)
		put_added(out, &p->total, &p->total_before);
	else
		buffer_add(out, "[]", 2);
	buffer_add(out, ",[", 2);
	put_rows(p, out, seconds > 0 ? seconds : 1);
	buffer_add(out, "]]", 2);
	p->bytes += out->n;
	p->next++;
	p->time = time;
	column_turn(&p->total, &p->total_before);
	for (struct row *r = p->rows; r < p->rows + ROWS; r++) {
		if (!r->keys || r->seen != frame)
			continue;
		r->known = true;
		r->before = r->now;
		column_turn(&r->buckets, &r->buckets_before);
	}
}

void past_begin(void)
{
	frame++;
	current = NULL;
}

void past_agg(const struct dtrace_rowinfo *i, const char *head, size_t nhead)
{
	size_t at = 0;

	while (at < npasts && pasts[at]->id != i->id)
		at++;
	if (at == npasts) {
		pasts = realloc(pasts, (npasts + 1) * sizeof(struct past *));
		current = pasts ? calloc(1, sizeof(*current)) : NULL;
		if (!current)
			fatal("out of memory");
		current->id = i->id;
		current->has_buckets = strstr(i->function, "quantize");
		current->has_rate = current->has_buckets || strcmp(i->function, "count") == 0 ||
				    strcmp(i->function, "sum") == 0 || strcmp(i->function, "avg") == 0;
		pasts[npasts++] = current;
	}
	current = pasts[at];
	current->head.n = 0;
	buffer_add(&current->head, head, nhead);
}

void past_agg_end(uint64_t time, size_t nrows)
{
	end_point(current, time);
	current->all = nrows <= KEPT;
}

static void put_past(const struct past *p, struct buffer *out)
{
	bool any = false;

	buffer_add(out, "{", 1);
	buffer_add(out, p->head.s, p->head.n);
	buffer_print(out, ",\"rows\":[");
	for (const struct row *r = p->rows; r < p->rows + ROWS; r++) {
		if (!r->told)
			continue;
		buffer_print(out, "%s[%llu,", any ? "," : "", (unsigned long long)r->number);
		buffer_add(out, r->keys, r->nkeys);
		buffer_add(out, "]", 1);
		any = true;
	}
	buffer_print(out, "],\"points\":[");
	for (uint64_t k = p->first; k < p->next; k++) {
		buffer_add(out, ",", k > p->first ? 1 : 0);
		buffer_add(out, p->points[k % POINTS].s, p->points[k % POINTS].n);
	}
	buffer_print(out, "]}");
}

void past_write(struct buffer *out)
{
	buffer_add(out, "[", 1);
	for (size_t i = 0; i < npasts; i++) {
		buffer_add(out, ",", i ? 1 : 0);
		put_past(pasts[i], out);
	}
	buffer_add(out, "]", 1);
}

void past_free(void)
{
	for (size_t i = 0; i < npasts; i++) {
		struct past *p = pasts[i];

		while (p->first < p->next)
			forget_oldest(p);
		for (struct row *r = p->rows; r < p->rows + ROWS; r++)
			row_free(r);
		free(p->total.v);
		free(p->total_before.v);
		buffer_free(&p->head);
		free(p);
	}
	free(pasts);
}

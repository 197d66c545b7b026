/*
 * serve_data: what the page shows.
 *
 * The events are the trace as ndjson (doc/ndjson.md), kept in the pieces in which they come; the oldest are forgotten.
 * A frame is all aggregations at one moment, as JSON for the page:
 *
 *	{"time": ms, "drops": n, "faults": n, "naming": bool, "drop": line or null, "aggs": [
 *	  {"id", "name", "function", "keys": [names], "stack": bool, "n": all rows,
 *	   "rows": [[[key, ...], value, [[low, high, count], ...] or null, count], ...]}]}
 *
 * Keys are text, as in --top. Of very many rows the largest are sent. Naming: rows are missing, since names of addresses take
 * long to find.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "args.h"
#include "serve.h"
#include "value_text.h"

#define PIECES	  8192 /* kept of the events */
#define BYTES	  (4u << 20)
#define MOST_ROWS 1000 /* of an aggregation */
#define FRAMES	  6    /* of a stack */

/* ---- text that grows ---- */

void buffer_add(struct buffer *b, const void *data, size_t n)
{
	if (b->n + n + 1 > b->room) {
		b->room = (b->n + n + 1) * 2;
		b->s = realloc(b->s, b->room);
		if (!b->s)
			fatal("out of memory");
	}
	memcpy(b->s + b->n, data, n);
	b->s[b->n += n] = 0;
}

void buffer_print(struct buffer *b, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	buffer_add(b, text, n < 0 ? 0 : n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

/* Bytes of the UTF-8 character at s; 0: it is none. */
static size_t utf8_length(const unsigned char *s, size_t n)
{
	size_t len = s[0] < 0x80   ? 1
		     : s[0] < 0xc2 ? 0
		     : s[0] < 0xe0 ? 2
		     : s[0] < 0xf0 ? 3
		     : s[0] < 0xf5 ? 4
				   : 0;

	for (size_t i = 1; i < len; i++)
		if (i == n || (s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

void buffer_string(struct buffer *b, const char *s, size_t n)
{
	size_t len;

	buffer_add(b, "\"", 1);
	for (size_t i = 0; i < n; i += len) {
		unsigned char c = (unsigned char)s[i];

		len = utf8_length((const unsigned char *)s + i, n - i);
		if (len == 0) {
			buffer_add(b, "\\ufffd", 6);
			len = 1;
		} else if (c < 0x20 || c == 0x7f || c == '"' || c == '\\') {
			buffer_print(b, "\\u%04x", c);
		} else {
			buffer_add(b, s + i, len);
		}
	}
	buffer_add(b, "\"", 1);
}

void buffer_free(struct buffer *b)
{
	free(b->s);
	memset(b, 0, sizeof(*b));
}

/* ---- events ---- */

static struct piece {
	char *text; /* whole lines */
	size_t n;
	uint64_t line; /* number of its first */
} pieces[PIECES];
static uint64_t first_piece, next_piece, next_line;
static size_t kept_bytes;
static uint64_t drops, faults;
static struct buffer last_drop, start_line;

static bool begins(const char *s, size_t n, const char *with)
{
	return n >= strlen(with) && memcmp(s, with, strlen(with)) == 0;
}

static void note_loss(const char *line, size_t n)
{
	static const char count[] = "\"count\":";
	const char *p;

	if (begins(line, n, "{\"type\":\"fault\""))
		faults++;
	if (!begins(line, n, "{\"type\":\"drop\""))
		return;
	p = memmem(line, n, count, sizeof(count) - 1);
	if (!p)
		return; /* a message without a number: it is among the events */
	drops += strtoull(p + sizeof(count) - 1, NULL, 10);
	last_drop.n = 0;
	buffer_add(&last_drop, line, n);
}

static void forget_oldest(void)
{
	struct piece *p = &pieces[first_piece++ % PIECES];

	kept_bytes -= p->n;
	free(p->text);
	p->text = NULL;
}

int data_take_events(const void *data, size_t n, void *arg)
{
	struct piece *p;
	char *text = malloc(n + 1);

	(void)arg;
	if (!text)
		fatal("out of memory");
	memcpy(text, data, n);
	text[n] = 0;
	if (next_piece == 0 && memchr(text, '\n', n))
		buffer_add(&start_line, text, strcspn(text, "\n") + 1);
	while (next_piece - first_piece == PIECES ||
	       (kept_bytes + n > BYTES && next_piece > first_piece))
		forget_oldest();
	p = &pieces[next_piece++ % PIECES];
	*p = (struct piece){text, n, next_line};
	kept_bytes += n;
	for (const char *s = text, *end; (end = memchr(s, '\n', (size_t)(text + n - s)));
	     s = end + 1) {
		note_loss(s, (size_t)(end - s));
		next_line++;
	}
	return 0;
}

bool data_has_events(const struct place *p)
{
	return p->piece < next_piece;
}

uint64_t data_events(struct place *p, size_t most, const char *prefix, struct buffer *out)
{
	uint64_t from = next_piece, lost;
	size_t n = 0;

	while (from > first_piece && from > p->piece &&
	       (from == next_piece || n + pieces[(from - 1) % PIECES].n <= most))
		n += pieces[--from % PIECES].n;
	if (p->piece == 0 && from > 0) { /* how the times are meant */
		buffer_add(out, prefix, strlen(prefix));
		buffer_add(out, start_line.s, start_line.n);
	}
	lost = from < next_piece ? pieces[from % PIECES].line - p->line : 0;
	for (; from < next_piece; from++) {
		const struct piece *k = &pieces[from % PIECES];

		for (const char *s = k->text, *end; (end = strchr(s, '\n')); s = end + 1) {
			buffer_add(out, prefix, strlen(prefix));
			buffer_add(out, s, (size_t)(end + 1 - s));
		}
	}
	*p = (struct place){next_piece, next_line};
	return lost;
}

/* ---- names of stacks ---- */

/*
 * The first name of an object costs the time of reading its symbols. A frame must not wait for that, so it has only rows that
 * were named before; the others are named after it was sent. Which were is a set of hashes, in two generations.
 */
#define NAMED (1u << 16)

static struct names {
	uint64_t *now, *before; /* NAMED each; 0: free */
	size_t n;
	bool more; /* time ended before all rows were named */
} names;

static bool find_name(uint64_t *set, uint64_t hash, size_t *at)
{
	if (!set)
		return false;
	for (*at = hash % NAMED; set[*at] && set[*at] != hash; *at = (*at + 1) % NAMED)
		;
	return set[*at] == hash;
}

static void add_name(uint64_t hash)
{
	size_t at;

	if (!names.now || names.n == NAMED / 2) {
		free(names.before);
		names.before = names.now;
		names.now = calloc(NAMED, sizeof(uint64_t));
		names.n = 0;
		if (!names.now)
			fatal("out of memory");
	}
	if (find_name(names.now, hash, &at))
		return;
	names.now[at] = hash;
	names.n++;
}

static bool is_address(const dtrace_value_t *v)
{
	enum dtrace_value_kind kind = dtrace_value_info(v)->kind;

	return kind == DTRACE_VALUE_STACK || kind == DTRACE_VALUE_SYMBOL;
}

/* Of the keys that need names; 0: none does. */
static uint64_t hash_addresses(const dtrace_row_t *r, const struct dtrace_rowinfo *i)
{
	uint64_t hash = 0;

	for (unsigned k = 0; k < i->nkeys; k++) {
		const dtrace_value_t *v = dtrace_row_key(r, k);
		const struct dtrace_valueinfo *info = dtrace_value_info(v);
		const unsigned char *data = info->data;

		if (!is_address(v))
			continue;
		hash += 0xcbf29ce484222325;
		for (size_t at = 0; at < info->size; at++)
			hash = (hash ^ data[at]) * 0x100000001b3;
		hash |= 1;
	}
	return hash;
}

static bool is_named(const dtrace_row_t *r, const struct dtrace_rowinfo *i)
{
	uint64_t hash = hash_addresses(r, i);
	size_t at;

	if (hash == 0 || find_name(names.now, hash, &at))
		return true;
	if (!find_name(names.before, hash, &at))
		return false;
	add_name(hash);
	return true;
}

static void name_row(const dtrace_row_t *r, const struct dtrace_rowinfo *i)
{
	struct dtrace_frame f = {.size = sizeof(f)};

	for (unsigned k = 0; k < i->nkeys; k++) {
		const dtrace_value_t *v = dtrace_row_key(r, k);

		for (unsigned n = 0; is_address(v) && n < dtrace_value_info(v)->nframes; n++)
			dtrace_value_frame(v, n, &f);
	}
	add_name(hash_addresses(r, i));
}

/* ---- a frame ---- */

/* Rows come from the smallest to the largest. Texts of keys are costly: of too many rows the first are skipped. */
struct frame {
	struct buffer *out;
	uint64_t time;
	bool last, unnamed;    /* unnamed: there are such rows */
	unsigned ms;	       /* for naming them */
	uint64_t deadline;     /* from the first of them on; 0: there was none yet */
	int agg;
	unsigned id;	/* of the current aggregation */
	unsigned nrows; /* of it */
};

static uint64_t now_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void end_agg(struct frame *f)
{
	buffer_add(f->out, "]}", 2);
	past_agg_end(f->time, f->nrows);
}

/* Is it a row of the next aggregation? */
static bool is_next_agg(struct frame *f, const struct dtrace_rowinfo *i)
{
	if (f->agg >= 0 && f->id == i->id)
		return false;
	if (f->agg >= 0)
		end_agg(f);
	f->id = i->id;
	f->nrows = i->nplaces;
	f->agg++;
	return true;
}

static void begin_agg(struct frame *f, const dtrace_row_t *r, const struct dtrace_rowinfo *i)
{
	bool stack = false;
	size_t start;

	buffer_print(f->out, f->agg ? ",{" : "{");
	start = f->out->n;
	buffer_print(f->out, "\"id\":%u,\"name\":", i->id);
	buffer_string(f->out, i->name, strcmp(i->name, "_") == 0 ? 0 : strlen(i->name));
	buffer_print(f->out, ",\"function\":\"%s\",\"keys\":[", i->function);
	for (unsigned k = 0; k < i->nkeys; k++) {
		const struct dtrace_valueinfo *v = dtrace_value_info(dtrace_row_key(r, k));
		const char *name = v->name			   ? v->name
				   : v->kind == DTRACE_VALUE_STACK ? "stack"
								   : "...";

		stack |= v->kind == DTRACE_VALUE_STACK;
		if (k > 0)
			buffer_add(f->out, ",", 1);
		buffer_string(f->out, name, strlen(name));
	}
	buffer_print(f->out, "],\"stack\":%s,\"n\":%u", stack ? "true" : "false", f->nrows);
	past_agg(i, f->out->s + start, f->out->n - start);
	buffer_print(f->out, ",\"rows\":[");
}

static void put_bucket(struct buffer *out, const struct dtrace_bucket *b)
{
	buffer_add(out, "[", 1);
	if (b->low == INT64_MIN)
		buffer_add(out, "null,", 5);
	else
		buffer_print(out, "%lld,", (long long)b->low);
	if (b->high == INT64_MAX)
		buffer_add(out, "null,", 5);
	else
		buffer_print(out, "%lld,", (long long)b->high);
	buffer_print(out, "%lld]", (long long)b->count);
}

static void put_row(struct buffer *out, const dtrace_row_t *r, const struct dtrace_rowinfo *i, size_t left)
{
	int64_t value = i->value;
	size_t start;

	buffer_add(out, "[", 1);
	start = out->n;
	buffer_add(out, "[", 1);
	for (unsigned k = 0; k < i->nkeys; k++) {
		struct text t = {0};

		text_value(&t, dtrace_row_key(r, k), FRAMES);
		if (k > 0)
			buffer_add(out, ",", 1);
		buffer_string(out, t.s, t.n);
	}
	buffer_add(out, "]", 1);
	for (unsigned k = 0; k < i->nbuckets; k++)
		value += i->buckets[k].count;
	past_row(out->s + start, out->n - start, i,
		 strcmp(i->function, "avg") == 0 ? (int64_t)i->count : value, left);
	buffer_print(out, ",%lld", (long long)value);
	if (i->nbuckets) {
		for (unsigned k = 0; k < i->nbuckets; k++) {
			buffer_add(out, k ? "," : ",[", k ? 1 : 2);
			put_bucket(out, &i->buckets[k]);
		}
		buffer_add(out, "]", 1);
	} else if (i->count) {
		buffer_print(out, ",null,%llu", (unsigned long long)i->count);
	}
	buffer_add(out, "]", 1);
}

static bool is_small(const struct dtrace_rowinfo *i)
{
	return i->place + MOST_ROWS < i->nplaces;
}

static int take_row(const dtrace_row_t *r, void *arg)
{
	const struct dtrace_rowinfo *i = dtrace_row_info(r);
	struct frame *f = arg;

	if (is_next_agg(f, i))
		begin_agg(f, r, i);
	if (is_small(i))
		return 0;
	if (!f->last && !is_named(r, i)) {
		f->unnamed = true;
		return 0;
	}
	if (f->out->s[f->out->n - 1] != '[')
		buffer_add(f->out, ",", 1);
	put_row(f->out, r, i, i->nplaces - i->place - 1);
	return 0;
}

bool data_frame(dtrace_hdl_t *h, struct buffer *out, bool last)
{
	struct frame f = {.out = out, .agg = -1, .last = last, .time = now_ms(CLOCK_REALTIME)};

	buffer_print(out, "{\"time\":%llu,\"drops\":%llu,\"faults\":%llu,\"naming\":%s,\"drop\":",
		     (unsigned long long)f.time, (unsigned long long)drops,
		     (unsigned long long)faults, names.more ? "true" : "false");
	if (last_drop.n)
		buffer_add(out, last_drop.s, last_drop.n);
	else
		buffer_add(out, "null", 4);
	buffer_print(out, ",\"aggs\":[");
	past_begin();
	dtrace_aggregate_walk(h, take_row, &f);
	if (f.agg >= 0)
		end_agg(&f);
	buffer_add(out, "]}", 2);
	return f.unnamed;
}

static int name_next(const dtrace_row_t *r, void *arg)
{
	const struct dtrace_rowinfo *i = dtrace_row_info(r);
	struct frame *f = arg;

	if (is_small(i) || is_named(r, i))
		return 0;
	if (!f->deadline)
		f->deadline = now_ms(CLOCK_MONOTONIC) + f->ms;
	name_row(r, i);
	return now_ms(CLOCK_MONOTONIC) >= f->deadline;
}

bool data_name(dtrace_hdl_t *h, unsigned ms)
{
	struct frame f = {.ms = ms};

	names.more = dtrace_aggregate_walk(h, name_next, &f) != 0;
	return names.more;
}

/*
 * perfetto: records as a timeline, a stream of trace packets (protobuf) that the Perfetto UI opens.
 *
 * Every thread is a track. A record of an entry probe begins a slice there, one of the return probe
 * of the same function ends it; any other record is an instant. What a record traces or prints is
 * shown with its slice or instant. Numbers that a probe of the profile provider traces are counters,
 * and so is every number that printa() shows, with a track for each key.
 *
 * Several clauses on one probe make several records of one firing: they have the same time, and
 * are one event here. A return without its entry is an instant; entries that are still open when an
 * outer function returns end with it.
 */
#include <stdlib.h>
#include <time.h>

#include "format/formats.h"
#include "format/protobuf.h"
#include "format/samples.h"

/* Numbers of fields, by message. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_CLOCKS = 6,
	PACKET_TIME = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_CLOCK = 58,
	PACKET_TRACK = 60
};
enum { CLOCKS_CLOCK = 1, CLOCK_ID = 1, CLOCK_TIME = 2 };
enum {
	EVENT_NOTE = 4,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	EVENT_COUNTER = 30
};
enum { SLICE_BEGIN = 1, SLICE_END, INSTANT, COUNTER };
enum { NOTE_INT = 4, NOTE_UINT = 3, NOTE_STRING = 6, NOTE_NAME = 10 };
enum { TRACK_ID = 1, TRACK_NAME, TRACK_PROCESS, TRACK_THREAD, TRACK_PARENT, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID, THREAD_NAME = 5 };
enum {
	PERFETTO_REALTIME = 1,
	PERFETTO_MONOTONIC = 3,
	PERFETTO_BOOTTIME = 6
};			/* their numbers of clocks */
#define SEQUENCE      1 /* all packets are one sequence */
#define STATE_CLEARED 1

struct thread {
	uint64_t track;
	DT_VEC(const dt_probe *) open; /* entries without their return yet */
};

/* The current firing: its records so far. */
struct firing {
	const dt_probe *probe;
	dt_who who;
	uint32_t cpu, nvalues;
	uint64_t time;
	dt_buf notes; /* fields EVENT_NOTE */
	DT_VEC(int64_t) numbers;
};

struct dt_writer {
	const struct dt_consumer_env *env;
	dt_buf out;
	dt_buf packet, part, piece, text;
	dt_map *tracks; /* of threads: struct thread; of processes and counters: anything */
	struct firing now;
	uint64_t last; /* time of the last record */
};

/* ---- packets ---- */

/* One with what w->packet has so far. */
static void put_packet(dt_writer *w, uint64_t time)
{
	if (time) {
		dt_pb_uint(&w->packet, PACKET_TIME, time);
		dt_pb_uint(&w->packet, PACKET_CLOCK, PERFETTO_MONOTONIC);
	}
	dt_pb_uint(&w->packet, PACKET_SEQUENCE, SEQUENCE);
	dt_pb_message(&w->out, TRACE_PACKET, &w->packet);
}

static uint64_t clock_now(clockid_t id)
{
	struct timespec ts = {0};

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Times are those of the monotonic clock: its value on the other clocks. */
static void put_clocks(dt_writer *w)
{
	const struct {
		uint32_t id;
		uint64_t now;
	} clocks[] = {
	    {PERFETTO_MONOTONIC, dt_now_kernel()},
	    {PERFETTO_BOOTTIME, clock_now(CLOCK_BOOTTIME)},
	    {PERFETTO_REALTIME, clock_now(CLOCK_REALTIME)},
	};

	for (size_t i = 0; i < DT_NELEM(clocks); i++) {
		dt_pb_uint(&w->piece, CLOCK_ID, clocks[i].id);
		dt_pb_uint(&w->piece, CLOCK_TIME, clocks[i].now);
		dt_pb_message(&w->part, CLOCKS_CLOCK, &w->piece);
	}
	dt_pb_message(&w->packet, PACKET_CLOCKS, &w->part);
	dt_pb_uint(&w->packet, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
	put_packet(w, 0);
}

static dt_writer *perfetto_open(const struct dt_consumer_env *env)
{
	dt_writer *w = dt_xcalloc(1, sizeof(*w));

	w->env = env;
	w->tracks = dt_map_new();
	put_clocks(w);
	return w;
}

static void perfetto_close(dt_writer *w)
{
	uint32_t it = 0;
	const char *key;
	void *value;

	while (dt_map_next(w->tracks, &it, &key, &value)) {
		dt_vec_free(&((struct thread *)value)->open);
		free(value);
	}
	dt_map_free(w->tracks);
	dt_buf_free(&w->out);
	dt_buf_free(&w->packet);
	dt_buf_free(&w->part);
	dt_buf_free(&w->piece);
	dt_buf_free(&w->text);
	dt_buf_free(&w->now.notes);
	dt_vec_free(&w->now.numbers);
	free(w);
}

/* ---- tracks ---- */

/* The track of this name; *is_new: it has to be described first. */
static struct thread *find_track(dt_writer *w, const char *name, bool *is_new)
{
	struct thread *t = dt_map_get(w->tracks, name);

	*is_new = !t;
	if (!t) {
		t = dt_xcalloc(1, sizeof(*t));
		t->track = dt_hash_bytes(name, strlen(name)) | 1;
		dt_map_set(w->tracks, name, t);
	}
	return t;
}

static void put_track(dt_writer *w)
{
	dt_pb_message(&w->packet, PACKET_TRACK, &w->part);
	put_packet(w, 0);
}

static uint64_t process_track(dt_writer *w, const dt_who *who)
{
	char key[32];
	struct thread *t;
	bool is_new;

	snprintf(key, sizeof(key), "p%ld", who->pid);
	t = find_track(w, key, &is_new);
	if (is_new) {
		dt_pb_uint(&w->piece, PROCESS_PID, (uint64_t)who->pid);
		if (who->pid == who->tid)
			dt_pb_text(&w->piece, PROCESS_NAME, who->execname);
		dt_pb_uint(&w->part, TRACK_ID, t->track);
		dt_pb_message(&w->part, TRACK_PROCESS, &w->piece);
		put_track(w);
	}
	return t->track;
}

static struct thread *thread_track(dt_writer *w, const dt_who *who)
{
	uint64_t parent;
	char key[64];
	struct thread *t;
	bool is_new;

	snprintf(key, sizeof(key), "t%ld %ld", who->pid, who->tid);
	t = find_track(w, key, &is_new);
	if (is_new) {
		parent = process_track(w, who);
		dt_pb_uint(&w->piece, THREAD_PID, (uint64_t)who->pid);
		dt_pb_uint(&w->piece, THREAD_TID, (uint64_t)who->tid);
		dt_pb_text(&w->piece, THREAD_NAME, who->execname);
		dt_pb_uint(&w->part, TRACK_ID, t->track);
		dt_pb_uint(&w->part, TRACK_PARENT, parent);
		dt_pb_message(&w->part, TRACK_THREAD, &w->piece);
		put_track(w);
	}
	return t;
}

static void put_counter(dt_writer *w, const char *name, uint64_t time, int64_t value)
{
	char *key = dt_xasprintf("c%s", name);
	struct thread *t;
	bool is_new;

	t = find_track(w, key, &is_new);
	free(key);
	if (is_new) {
		dt_pb_uint(&w->part, TRACK_ID, t->track);
		dt_pb_text(&w->part, TRACK_NAME, name);
		dt_pb_message(&w->part, TRACK_COUNTER, &w->piece);
		put_track(w);
	}
	dt_pb_uint(&w->part, EVENT_TYPE, COUNTER);
	dt_pb_uint(&w->part, EVENT_TRACK, t->track);
	dt_pb_uint(&w->part, EVENT_COUNTER, (uint64_t)value);
	dt_pb_message(&w->packet, PACKET_EVENT, &w->part);
	put_packet(w, time);
}

/* ---- events ---- */

/* On a thread's track, with or without what was traced. */
static void put_event(dt_writer *w, struct thread *t, unsigned type, bool whole)
{
	const struct firing *f = &w->now;

	dt_pb_uint(&w->part, EVENT_TYPE, type);
	dt_pb_uint(&w->part, EVENT_TRACK, t->track);
	if (type != SLICE_END) {
		dt_buf_reset(&w->text);
		if (type == SLICE_BEGIN)
			dt_buf_puts(&w->text, f->probe->func);
		else
			dt_buf_printf(&w->text, "%s:%s",
				      f->probe->func[0] ? f->probe->func : f->probe->prov,
				      f->probe->name);
		dt_pb_text(&w->part, EVENT_NAME, w->text.s);
		dt_pb_text(&w->part, EVENT_CATEGORY, f->probe->prov);
	}
	if (whole && f->notes.n)
		dt_buf_add(&w->part, f->notes.s, f->notes.n);
	dt_pb_message(&w->packet, PACKET_EVENT, &w->part);
	put_packet(w, f->time);
}

static bool same_function(const dt_probe *a, const dt_probe *b)
{
	return strcmp(a->func, b->func) == 0 && strcmp(a->prov, b->prov) == 0 &&
	       strcmp(a->mod, b->mod) == 0;
}

/* End the innermost open slice of the function, and those inside it. */
static void put_return(dt_writer *w, struct thread *t)
{
	uint32_t i = t->open.n;

	while (i > 0 && !same_function(t->open.v[i - 1], w->now.probe))
		i--;
	if (i == 0) {
		put_event(w, t, INSTANT, true);
		return;
	}
	while (t->open.n >= i)
		put_event(w, t, SLICE_END, t->open.n-- == i);
}

static void put_numbers(dt_writer *w)
{
	const struct firing *f = &w->now;

	for (uint32_t i = 0; i < f->numbers.n; i++) {
		char *name = f->numbers.n > 1 ? dt_xasprintf("%s #%u", f->probe->name, i + 1)
					      : dt_xstrdup(f->probe->name);

		put_counter(w, name, f->time, f->numbers.v[i]);
		free(name);
	}
}

/* All records of the firing have come. */
static void finish(dt_writer *w)
{
	struct firing *f = &w->now;
	enum dt_flow_kind kind;
	struct thread *t;

	if (!f->probe)
		return;
	kind = dt_flow_kind_of(f->probe);
	if (strcmp(f->probe->prov, "profile") == 0 && f->numbers.n) {
		put_numbers(w);
	} else {
		t = thread_track(w, &f->who);
		if (kind == DT_FLOW_ENTRY) {
			put_event(w, t, SLICE_BEGIN, true);
			*dt_vec_add(&t->open, NULL) = f->probe;
		} else if (kind == DT_FLOW_RETURN) {
			put_return(w, t);
		} else {
			put_event(w, t, INSTANT, true);
		}
	}
	f->probe = NULL;
}

static void perfetto_begin(dt_writer *w, const dt_record_event *r)
{
	struct firing *f = &w->now;

	w->last = r->timestamp;
	if (f->probe == r->probe && f->time == r->timestamp && f->who.tid == r->who.tid &&
	    f->cpu == r->cpu)
		return;
	finish(w);
	f->probe = r->probe;
	f->who = r->who;
	f->cpu = r->cpu;
	f->time = r->timestamp;
	f->nvalues = 0;
	f->numbers.n = 0;
	dt_buf_reset(&f->notes);
}

/* ---- what a record holds ---- */

static void begin_note(dt_writer *w, const char *name)
{
	char text[32];

	w->now.nvalues++;
	if (!name) {
		snprintf(text, sizeof(text), "value%u", w->now.nvalues);
		name = text;
	}
	dt_pb_text(&w->piece, NOTE_NAME, name);
}

static void end_note(dt_writer *w)
{
	dt_pb_message(&w->now.notes, EVENT_NOTE, &w->piece);
}

static void perfetto_value(dt_writer *w, const dt_value *v)
{
	if (v->kind == DT_V_NONE)
		return;
	begin_note(w, v->kind == DT_V_STACK ? "stack" : v->name);
	if (v->kind == DT_V_INT) {
		dt_pb_uint(&w->piece, v->is_signed ? NOTE_INT : NOTE_UINT, v->u);
		*dt_vec_add(&w->now.numbers, NULL) = (int64_t)v->u;
	} else {
		dt_buf_reset(&w->text);
		dt_key_text(&w->text, v, w->env);
		dt_pb_string(&w->piece, NOTE_STRING, w->text.s, w->text.n);
	}
	end_note(w);
}

static void perfetto_print(dt_writer *w, const dt_value *v, dt_type *type)
{
	if (v->kind == DT_V_NONE)
		return;
	begin_note(w, v->name);
	dt_buf_reset(&w->text);
	dt_text_print(&w->text, w->env->types, type, v->data, v->size, w->env);
	dt_pb_string(&w->piece, NOTE_STRING, w->text.s, w->text.n);
	end_note(w);
}

static void perfetto_printf(dt_writer *w, const char *text, size_t len, const struct dt_format *f,
			    const dt_value *args, uint32_t nargs)
{
	(void)f;
	(void)args;
	(void)nargs;
	while (len && text[len - 1] == '\n')
		len--;
	begin_note(w, "text");
	dt_pb_string(&w->piece, NOTE_STRING, text, len);
	end_note(w);
}

/* ---- aggregations: counters, at the time of the record that prints them ---- */

static bool is_plottable(const dt_aggtable *t, uint32_t which)
{
	const dt_agg *agg = t->sets[which]->agg;

	if (dt_agg_is_quantizer(agg))
		return false;
	for (uint32_t i = 0; i < agg->nkeys; i++)
		if (dt_act_is_stack(agg->keys[i].kind))
			return false;
	return true;
}

static void put_row(dt_writer *w, const dt_aggtable *t, uint32_t which, const dt_aggline *l)
{
	const dt_aggset *s = t->sets[which];
	dt_buf name = {0};

	dt_buf_printf(&name, "@%s", strcmp(s->agg->name, "_") == 0 ? "" : s->agg->name);
	for (uint32_t i = 0; i < l->agg->nkeys; i++) {
		dt_value v;

		dt_value_of(&l->agg->keys[i], &l->keys[i], &v);
		dt_buf_puts(&name, i ? ", " : "[");
		dt_key_text(&name, &v, w->env);
	}
	dt_buf_puts(&name, l->agg->nkeys ? "]" : "");
	dt_make_safe(name.s, name.n, false);
	put_counter(w, name.s, w->last ? w->last : dt_now_kernel(),
		    dt_agg_number(s->agg, l->values[which], s->normal));
	dt_buf_free(&name);
}

static int perfetto_aggs(dt_writer *w, const dt_aggtable *t, dt_error *err)
{
	(void)err;
	for (uint32_t i = 0; i < t->nsets; i++)
		for (uint32_t j = 0; j < t->nlines && is_plottable(t, i); j++)
			if (t->lines[j].values[i])
				put_row(w, t, i, &t->lines[j]);
	return 0;
}

static int perfetto_end(dt_writer *w, dt_error *err)
{
	(void)err;
	finish(w);
	return 0;
}

static dt_buf *perfetto_output(dt_writer *w)
{
	return &w->out;
}

const struct dt_writer_ops dt_writer_perfetto = {
    .name = "perfetto",
    .flags = DT_WRITER_DOCUMENT | DT_WRITER_THREADS,
    .open = perfetto_open,
    .close = perfetto_close,
    .record_begin = perfetto_begin,
    .trace = perfetto_value,
    .print = perfetto_print,
    .memory = perfetto_value,
    .stack = perfetto_value,
    .symbol = perfetto_value,
    .printf = perfetto_printf,
    .aggs = perfetto_aggs,
    .end = perfetto_end,
    .output = perfetto_output,
};

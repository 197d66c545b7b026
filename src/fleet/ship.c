/*
 * ship: sends the output of a durable session to JetStream. See session_store.h and jetstream.h.
 *
 * How far it had come is asked from the stream itself: the place of its last message. A message is sent on the condition
 * that it follows the last one that is known. So none comes twice and none is left out, whatever happened to this process, to the
 * server or to the answer. While the server is away the output waits in the files; what their bounds remove meanwhile is counted,
 * and a line in the stream says so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fleet/jetstream.h"
#include "fleet/ship.h"
#include "fleet/session_store.h"

#define SECOND	   UINT64_C(1000000000)
#define AT_ONCE	   (128u << 10)
#define LARGEST	   (900u << 10) /* of a message; a server takes 1 MB */
#define IDLE_MS	   100
#define AGAIN_MS   1000

struct ship {
	const char *dir;
	dt_js js;
	uint64_t last; /* number of the last message */
	dt_store_reader *reader;
	uint64_t unsent; /* bytes that were removed before */
	uint64_t sent;	 /* place */
	uint64_t told;	 /* dt_now() */
	struct dt_store_state st;
};

static uint64_t end_of(const char *dir)
{
	dt_store_places all = {0};
	uint64_t end = 0;
	struct stat s;
	char *path;

	dt_store_list(dir, &all);
	if (all.n) {
		path = dt_store_path(dir, all.v[all.n - 1]);
		end = all.v[all.n - 1] + (stat(path, &s) == 0 ? (uint64_t)s.st_size : 0);
		free(path);
	}
	dt_vec_free(&all);
	return end;
}

/* Where it goes on: after the last message. 0 or -1. */
static int find_place(struct ship *s, dt_error *err)
{
	struct dt_js_info info;
	struct dt_js_message m = {0};
	int rc = 0;

	if (dt_js_info(&s->js, &info, err) < 0)
		return -1;
	s->last = info.last;
	if (info.last)
		rc = dt_js_get(&s->js, info.last, &m, err);
	if (rc > 0)
		s->sent = m.at + m.lines.n;
	else if (!info.last)
		s->sent = 0; /* an empty stream: from the beginning of what there is */
	dt_buf_free(&m.lines);
	if (rc < 0)
		return -1;
	if (s->sent > end_of(s->dir))
		s->sent = 0; /* the store was made anew */
	return 0;
}

static int prepare(struct ship *s, dt_error *err)
{
	return dt_js_create(&s->js, s->st.n[DT_KEPT_STREAMSIZE], s->st.n[DT_KEPT_STREAMAGE], err) < 0 || find_place(s, err) < 0 ? -1
															       : 0;
}

static void tell(struct ship *s, bool now)
{
	if (!now && dt_now() - s->told < SECOND)
		return;
	dt_store_sent_write(s->dir, s->sent, s->unsent);
	s->told = dt_now();
}

static void read_from(struct ship *s, uint64_t at)
{
	dt_store_reader_free(s->reader);
	s->reader = dt_store_reader_new(s->dir, at);
}

/* Until it is there. What is sent must be known exactly, so after any doubt the stream is asked. */
static void deliver(struct ship *s, const struct dt_js_message *m)
{
	dt_error err = {0};
	int rc;

	while ((rc = dt_js_put(&s->js, s->last, m, &err)) <= 0) {
		uint64_t sent = s->sent;

		if (rc < 0)
			usleep(AGAIN_MS * 1000);
		if (prepare(s, &err) < 0 || s->sent == sent)
			continue; /* the server is away, or it has not come */
		read_from(s, s->sent); /* it came, or the stream is another one */
		return;
	}
	s->last++;
	s->sent = m->at + m->lines.n;
}

/* True: something was sent. */
static bool ship_some(struct ship *s)
{
	struct dt_js_message m = {.is_text = strcmp(s->st.format, "text") == 0};
	uint64_t at, missed, next;
	dt_buf lines = {0};
	bool some = dt_store_reader_next(s->reader, AT_ONCE, &lines, &at, &missed);

	if (!some)
		return false;
	next = at + lines.n;
	if (lines.n > LARGEST) {
		missed += lines.n;
		dt_buf_reset(&lines);
	}
	s->unsent += missed;
	if (missed)
		dt_buf_printf(&m.lines,
			      "{\"type\":\"drop\",\"kind\":\"STREAM\",\"count\":%llu,\"total\":%llu,\"text\":\"%llu bytes of output were "
			      "removed before they could be sent to JetStream\"}\n",
			      (unsigned long long)missed, (unsigned long long)s->unsent, (unsigned long long)missed);
	dt_buf_add(&m.lines, lines.s, lines.n);
	/* The place of a message is such that its end is the place of what comes next. */
	m.at = next - m.lines.n;
	deliver(s, &m);
	dt_buf_free(&lines);
	dt_buf_free(&m.lines);
	return true;
}

static bool is_over(const struct ship *s)
{
	struct dt_store_state st;

	dt_store_state_read(s->dir, &st);
	return strcmp(st.state, "running") != 0 && strcmp(st.state, "waiting") != 0;
}

bool dt_ship_is_due(const char *dir)
{
	struct dt_store_state st;

	if (!dt_store_state_read(dir, &st) || !st.stream[0])
		return false;
	return strcmp(st.state, "running") == 0 || st.n[DT_KEPT_SENT] < st.n[DT_KEPT_END];
}

int dt_ship(const char *dir, const char *machine, const char *session, dt_error *err)
{
	struct ship s = {.dir = dir};
	dt_nats *n;
	bool over = false;

	dt_store_state_read(dir, &s.st);
	s.unsent = s.st.n[DT_KEPT_UNSENT];
	s.sent = s.st.n[DT_KEPT_SENT];
	n = dt_nats_open(s.st.stream, false, err);
	if (!n)
		return -1;
	dt_js_init(&s.js, n, machine, session);
	if (prepare(&s, err) < 0) {
		dt_nats_free(n);
		return -1;
	}
	read_from(&s, s.sent);
	for (;;) {
		if (ship_some(&s)) {
			tell(&s, false);
			continue;
		}
		tell(&s, over);
		if (over)
			break;
		over = is_over(&s); /* then once more: it may have written its last lines since we read */
		usleep(over ? 0 : IDLE_MS * 1000);
	}
	dt_store_reader_free(s.reader);
	dt_nats_free(n);
	return 0;
}

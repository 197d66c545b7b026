/*
 * viewer: see viewer.h.
 *
 * A session whose output is also in JetStream is read from there: that is possible also when its machine is away. Then its agent,
 * if there is one, is only asked for the aggregations.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/budget.h"
#include "fleet/jetstream.h"
#include "fleet/one_target.h"
#include "fleet/viewer.h"

#define STREAM_MS 100 /* between looks at a stream that has nothing new */
#define AT_ONCE	 64   /* messages of a stream, before the others have their turn */

enum { FROM_NOW, FROM_START, FROM_NOWHERE };

/* An agent. */
struct agent {
	dt_target *t;
	bool listed, offers, watches, is_text;
	uint32_t sessions; /* that it has named */
};

/* A session in JetStream. */
struct stream {
	dt_js js;
	char machine[DT_JS_NAME];
	uint64_t next; /* number of the message */
	uint64_t at;   /* place; 0: not known yet */
	bool is_text;
};

struct dt_viewer {
	dt_fleet *fleet;
	const char *machine, *name; /* what is looked for */
	dt_viewer_row_f *each;
	dt_viewer_lines_f *lines;
	void *arg;
	int rc; /* of each */
	bool stopping;
	DT_VEC(struct agent) agents;
	DT_VEC(struct stream) streams;
};

static struct agent *agent_of(dt_viewer *w, const dt_target *t)
{
	for (uint32_t i = 0; i < w->agents.n; i++)
		if (w->agents.v[i].t == t)
			return &w->agents.v[i];
	return NULL;
}

/* ---- what agents say ---- */

static void take_session(dt_viewer *w, struct agent *a, dt_message *m)
{
	struct dt_viewer_row row = {.machine = a->t->name};

	if (!dt_get_session(m, &row.session))
		return;
	if (w->each && w->rc == 0)
		w->rc = w->each(w->arg, &row);
	if (w->name && strcmp(row.session.name, w->name) == 0) {
		a->offers = true;
		a->is_text = strcmp(row.session.format, "ndjson") != 0;
	}
}

static void take_lines(dt_viewer *w, const struct agent *a, dt_message *m)
{
	const char *lines;
	uint64_t missed;
	size_t n;

	if (dt_get_lines(m, &missed, &lines, &n) && w->lines)
		w->lines(w->arg, a->t->name, a->is_text, missed, lines, n);
}

bool dt_viewer_take(dt_target *t, dt_packet *p, const char **why)
{
	dt_viewer *w = t->fleet->viewer;
	struct agent *a = agent_of(w, t);

	*why = NULL;
	if (p->type == DT_M_SESSION && a && !a->listed && a->sessions++ < DT_MAX_TARGET_SHOWN) {
		take_session(w, a, &p->body);
	} else if (p->type == DT_M_LISTED && a) {
		a->listed = true;
	} else if (p->type == DT_M_LINES && a && a->watches) {
		take_lines(w, a, &p->body);
	} else if (p->type == DT_M_BYE && a && a->watches) {
		a->watches = false;
		t->state = DT_T_DONE;
	} else {
		return false;
	}
	return true;
}

static bool has_listed(const dt_target *t)
{
	const struct agent *a = agent_of(t->fleet->viewer, t);

	return !a || a->listed;
}

static void wait_for(dt_fleet *f, bool (*done)(const dt_target *t))
{
	dt_fleet_wait(f, done, &(struct dt_patience){dt_fleet_silence(f), DT_MAX_TARGET_WAIT, "it does not answer any more"});
}

/* Ask all for their sessions. */
static void ask_all(dt_viewer *w)
{
	dt_fleet *f = w->fleet;

	f->viewer = w;
	for (uint32_t i = 0; i < f->targets.n; i++) {
		dt_target *t = f->targets.v[i];

		if (t->state != DT_T_KNOWN || (w->machine && !dt_glob_match(w->machine, t->name)))
			continue;
		dt_vec_add(&w->agents, NULL)->t = t;
		dt_link_send(t->link, DT_M_SESSIONS, NULL);
		t->heard = dt_now();
	}
	wait_for(f, has_listed);
}

/* ---- streams ---- */

static void add_stream(void *arg, dt_nats *n, const char *machine, const char *session)
{
	dt_viewer *w = arg;
	struct stream *s;

	if (w->machine && !dt_glob_match(w->machine, machine))
		return;
	if (w->name && strcmp(w->name, session) != 0)
		return;
	s = dt_vec_add(&w->streams, NULL);
	dt_js_init(&s->js, n, machine, session);
	snprintf(s->machine, sizeof(s->machine), "%s", machine);
}

static void find_streams(dt_viewer *w)
{
	dt_error ignored = {0}; /* a server without JetStream is not an error */

	for (uint32_t i = 0; i < w->fleet->nats.n; i++)
		dt_js_list(w->fleet->nats.v[i], w->name, add_stream, w, &ignored);
}

/* Its machine's name is a part of a subject there: dots became _. */
static bool is_stream_of(const struct stream *s, const dt_target *t)
{
	dt_js js;
	const char *session = strrchr(s->js.subject, '.');

	dt_js_init(&js, s->js.nats, t->name, session ? session + 1 : "");
	return strcmp(js.stream, s->js.stream) == 0;
}

static void begin_stream(struct stream *s, bool from_start)
{
	struct dt_js_info info = {0};
	dt_error err = {0};

	if (dt_js_info(&s->js, &info, &err) < 0)
		info = (struct dt_js_info){0};
	s->next = from_start ? info.first : info.last + 1;
	s->next = s->next ? s->next : 1;
}

/* One message. True: there was one, or some have been removed. */
static bool read_stream(dt_viewer *w, struct stream *s)
{
	struct dt_js_message m = {0};
	struct dt_js_info info;
	dt_error err = {0};
	int rc = dt_js_get(&s->js, s->next, &m, &err);

	if (rc > 0) {
		w->lines(w->arg, s->machine, m.is_text, s->at && m.at > s->at ? m.at - s->at : 0, m.lines.s ? m.lines.s : "", m.lines.n);
		s->at = m.at + m.lines.n;
		s->next++;
	} else if (rc == 0 && dt_js_info(&s->js, &info, &err) == 0 && s->next < info.first) {
		s->next = info.first; /* its bounds were faster than we; the places tell how much that is */
		rc = 1;
	}
	dt_buf_free(&m.lines);
	return rc > 0;
}

/* True: some of them may have more at once. */
static bool read_streams(dt_viewer *w)
{
	bool more = false;

	for (uint32_t i = 0; i < w->streams.n; i++) {
		int n = 0;

		while (n < AT_ONCE && read_stream(w, &w->streams.v[i]))
			n++;
		more |= n == AT_ONCE;
	}
	return more;
}

/* ---- both ---- */

int dt_viewer_list(dt_fleet *f, dt_viewer_row_f *each, void *arg)
{
	dt_viewer w = {.fleet = f, .each = each, .arg = arg};

	ask_all(&w);
	find_streams(&w);
	for (uint32_t i = 0; i < w.streams.n && w.rc == 0; i++) {
		struct stream *s = &w.streams.v[i];
		struct dt_viewer_row row = {.machine = s->machine,
					   .session = {.name = strrchr(s->js.subject, '.') + 1, .state = "stream", .why = "", .format = ""}};
		struct dt_js_info info = {0};
		dt_error err = {0};

		if (dt_js_info(&s->js, &info, &err) == 0)
			row.session.n[DT_WS_BYTES] = info.bytes;
		w.rc = each(arg, &row);
	}
	f->viewer = NULL;
	dt_vec_free(&w.agents);
	dt_vec_free(&w.streams);
	return w.rc;
}

static void begin_agent(dt_viewer *w, struct agent *a, bool from_start)
{
	uint32_t from = from_start ? FROM_START : FROM_NOW;
	dt_buf b = {0};

	if (!a->offers || !dt_target_is_there(a->t))
		return;
	for (uint32_t i = 0; i < w->streams.n; i++)
		if (is_stream_of(&w->streams.v[i], a->t))
			from = FROM_NOWHERE;
	dt_put_string(&b, w->name);
	dt_put_u32(&b, from);
	dt_link_send(a->t->link, DT_M_WATCH, &b);
	dt_buf_free(&b);
	a->watches = true;
}

dt_viewer *dt_viewer_new(dt_fleet *f, const char *machine, const char *name, bool from_start, dt_error *err)
{
	dt_viewer *w = dt_xcalloc(1, sizeof(*w));
	uint32_t n = 0;

	w->fleet = f;
	w->machine = machine;
	w->name = name;
	ask_all(w);
	find_streams(w);
	for (uint32_t i = 0; i < w->streams.n; i++)
		begin_stream(&w->streams.v[i], from_start);
	for (uint32_t i = 0; i < w->agents.n; i++) {
		begin_agent(w, &w->agents.v[i], from_start);
		n += w->agents.v[i].watches;
	}
	if (n || w->streams.n)
		return w;
	dt_err(err, ENOENT, "no machine has a session called %s that you may see", name);
	dt_viewer_free(w);
	return NULL;
}

void dt_viewer_free(dt_viewer *w)
{
	if (!w)
		return;
	w->fleet->viewer = NULL;
	dt_vec_free(&w->agents);
	dt_vec_free(&w->streams);
	free(w);
}

static bool any_left(const dt_viewer *w)
{
	for (uint32_t i = 0; i < w->agents.n; i++)
		if (w->agents.v[i].watches && w->agents.v[i].t->link)
			return true;
	return false;
}

bool dt_viewer_work(dt_viewer *w, int ms, dt_viewer_lines_f *f, void *arg)
{
	DT_VEC(struct pollfd) fds = {0};
	bool more;

	w->lines = f;
	w->arg = arg;
	more = read_streams(w);
	for (uint32_t i = 0; i < w->agents.n; i++) {
		const struct agent *a = &w->agents.v[i];

		if (a->watches && a->t->link)
			*dt_vec_add(&fds, NULL) = (struct pollfd){
			    .fd = dt_link_fd(a->t->link), .events = POLLIN | (dt_link_pending(a->t->link) ? POLLOUT : 0)};
	}
	ms = w->streams.n && ms > STREAM_MS ? STREAM_MS : ms;
	poll(fds.v, fds.n, more ? 0 : ms);
	dt_vec_free(&fds);
	for (uint32_t i = 0; i < w->fleet->targets.n; i++)
		if (w->fleet->targets.v[i]->link)
			dt_target_work(w->fleet->targets.v[i]);
	dt_fleet_care(w->fleet);
	return !w->fleet->aborted && (w->streams.n || any_left(w));
}

static bool has_ended(const dt_target *t)
{
	const struct agent *a = agent_of(t->fleet->viewer, t);

	return !a || !a->watches;
}

bool dt_viewer_is_broken(const dt_viewer *w)
{
	for (uint32_t i = 0; i < w->agents.n; i++)
		if (w->agents.v[i].watches && !w->agents.v[i].t->link)
			return true;
	return false;
}

void dt_viewer_end(dt_viewer *w, dt_viewer_lines_f *f, void *arg)
{
	w->lines = f;
	w->arg = arg;
	for (uint32_t i = 0; i < w->agents.n; i++)
		if (w->agents.v[i].watches && w->agents.v[i].t->link) {
			dt_link_send(w->agents.v[i].t->link, DT_M_STOP, NULL);
			w->agents.v[i].t->heard = dt_now();
		}
	wait_for(w->fleet, has_ended);
}

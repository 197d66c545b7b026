/*
 * durable: one durable session, in a process of its own (dtraced(8)).
 *
 * It is traced as dtrace -s would, but the output goes to the session's store (fleet/session_store.h), as lines of ndjson
 * (doc/ndjson.md). If the script's format is text, these are all events, and the text as lines of type "text", so that who
 * attaches sees what dtrace would have printed. If it is ndjson, they are just that. Other formats are documents that have
 * an end; a durable session has none.
 *
 * Who attaches also wants to see the aggregations as they are: a socket in the store's folder gives them to whoever connects.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "fleet/ship.h"
#include "fleet/session_store.h"
#include "format/formats.h"
#include "session/session.h"

#define SECOND	       UINT64_C(1000000000)
#define OVERHEAD       "5%" /* unless the script says another */
#define TEXT_AT_ONCE   (16u << 10)
#define ANSWER_SECONDS 2    /* for one who asks for aggregations to read them */

struct durable {
	struct dtrace_durable d;
	char *dir, machine[64];
	dtrace_hdl_t *h;
	dt_store *store;
	struct dt_store_state st;
	uint64_t old_lines, old_bytes; /* lost by earlier processes */
	uint64_t written;	       /* dt_now() of the last state */
	int control;
	bool is_text;
	dtrace_output_f *next; /* who else takes the events; NULL: nobody */
	void *next_arg;
	dt_buf lines;
};

/* ---- lines ---- */

static void head(void *arg, uint64_t at, dt_buf *out)
{
	const struct durable *d = arg;

	dt_buf_printf(out, "{\"type\":\"log\",\"session\":\"%s\",\"machine\":\"%s\",\"at\":%llu,\"time\":%llu,\"wall\":%llu}\n", d->d.name,
		      d->machine, (unsigned long long)at, (unsigned long long)dt_now_kernel(),
		      (unsigned long long)dt_now_wall());
}

static void note(struct durable *d, const char *text)
{
	dt_buf b = {0};

	dt_ndjson_note(&b, text);
	dt_store_add(d->store, b.s, b.n);
	dt_buf_free(&b);
}

static void count_drops(struct durable *d, const char *p, size_t n)
{
	static const char mark[] = "{\"type\":\"drop\"";
	const char *end;

	for (; n; n -= (size_t)(end - p), p = end) {
		uint64_t count;

		end = memchr(p, '\n', n);
		end = end ? end + 1 : p + n;
		if ((size_t)(end - p) >= sizeof(mark) && memcmp(p, mark, sizeof(mark) - 1) == 0 &&
		    dt_json_number(p, (size_t)(end - p), "count", &count))
			d->st.n[DT_KEPT_DROPS] += count;
	}
}

static int take_lines(const void *p, size_t n, void *arg)
{
	struct durable *d = arg;

	count_drops(d, p, n);
	dt_store_add(d->store, p, n);
	return 0;
}

static int take_events(const void *p, size_t n, void *arg)
{
	struct durable *d = arg;

	take_lines(p, n, d);
	return d->next ? d->next(p, n, d->next_arg) : 0;
}

static int take_text(const void *p, size_t n, void *arg)
{
	struct durable *d = arg;

	uint64_t most = dt_opt(&d->h->opts, DT_O_LOGSIZE) / 8; /* a byte takes up to six; a line must fit into a file */

	dt_ndjson_text(&d->lines, p, n, most < TEXT_AT_ONCE ? most : TEXT_AT_ONCE);
	dt_store_add(d->store, d->lines.s, d->lines.n);
	dt_buf_reset(&d->lines);
	return 0;
}

/* They are among the lines. */
static int ignore_diag(dtrace_hdl_t *h, enum dtrace_diag_kind kind, const char *text, void *arg)
{
	(void)h;
	(void)kind;
	(void)text;
	(void)arg;
	return 0;
}

/* ---- the state ---- */

static void write_state(struct durable *d)
{
	struct dt_store_counts c = dt_store_counts(d->store);

	d->st.n[DT_KEPT_ALIVE] = dt_now_wall();
	d->st.n[DT_KEPT_FIRST] = c.first;
	d->st.n[DT_KEPT_END] = c.end;
	d->st.n[DT_KEPT_LINES] = d->old_lines + c.lines;
	d->st.n[DT_KEPT_BYTES] = d->old_bytes + c.bytes;
	dt_store_state_write(d->dir, &d->st);
	d->written = dt_now();
}

static void put_time(char *out, size_t n, uint64_t wall)
{
	time_t t = (time_t)(wall / SECOND);
	struct tm tm;

	gmtime_r(&t, &tm);
	n -= strftime(out, n, "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(out + strlen(out), n, ".%03u", (unsigned)(wall % SECOND / 1000000));
}

/* An earlier process has left something: say for how long nothing was traced, and why. */
static void tell_begin(struct durable *d)
{
	uint64_t now = dt_now_wall(), last = d->st.n[DT_KEPT_ALIVE], cut = dt_store_counts(d->store).cut;
	char from[40], to[40];
	dt_buf b = {0};

	put_time(to, sizeof(to), now);
	put_time(from, sizeof(from), last);
	if (!d->st.n[DT_KEPT_STARTS]) {
		dt_buf_printf(&b, "session %s begins: %s UTC", d->d.name, to);
	} else {
		dt_buf_printf(&b, "session %s goes on: it did not run from %s to %s UTC (%llu.%03llu s)", d->d.name, from, to,
			      (unsigned long long)((now - last) / SECOND), (unsigned long long)((now - last) / 1000000 % 1000));
		if (strcmp(d->st.state, "running") == 0)
			dt_buf_puts(&b, "; it was killed: what it had not written is missing");
		else if (d->st.why[0])
			dt_buf_printf(&b, "; %s", d->st.why);
	}
	if (cut)
		dt_buf_printf(&b, "; a line that was not finished was removed (%llu bytes)", (unsigned long long)cut);
	note(d, b.s);
	dt_buf_free(&b);
}

/* ---- the socket ---- */

static int listen_at(const char *dir)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd;

	if (snprintf(a.sun_path, sizeof(a.sun_path), "%s/" DT_STORE_CONTROL, dir) >= (int)sizeof(a.sun_path))
		return -1;
	unlink(a.sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 16) < 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Of a document of its own: the trace goes on, so its beginning and its end are left out. */
static void put_rows(const dt_buf *document, dt_buf *out)
{
	static const char row[] = "{\"type\":\"aggregation\"";
	size_t n;

	for (size_t at = 0; at < document->n; at += n) {
		const char *line = document->s + at, *end = memchr(line, '\n', document->n - at);

		n = end ? (size_t)(end + 1 - line) : document->n - at;
		if (n >= sizeof(row) && memcmp(line, row, sizeof(row) - 1) == 0)
			dt_buf_add(out, line, n);
	}
}

/* As they are now: their rows, and if the script's format is text, what it would print of them. Then a mark that this is all. */
static void put_aggregations(struct durable *d, dt_buf *out)
{
	dtrace_hdl_t *h = d->h;
	dt_buf text = {0};

	dt_symbols_update(h);
	dt_consumer_read_aggs(h->consumer, h->engine_ops, h->engine, &h->err);
	if (dt_consumer_write_aggs(h->consumer, &dt_writer_ndjson, &text, &h->err) == 0)
		put_rows(&text, out);
	dt_buf_reset(&text);
	if (d->is_text && dt_consumer_write_aggs(h->consumer, dt_format_named("text"), &text, &h->err) == 0)
		dt_ndjson_text(out, text.s, text.n, TEXT_AT_ONCE);
	dt_buf_puts(out, DT_STORE_ALL);
	dt_buf_free(&text);
}

static void answer(struct durable *d)
{
	struct timeval patience = {.tv_sec = ANSWER_SECONDS};
	int fd = d->control < 0 ? -1 : accept4(d->control, NULL, NULL, SOCK_CLOEXEC);
	dt_buf lines = {0};
	size_t at = 0;
	ssize_t n = 0;

	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	put_aggregations(d, &lines);
	for (; at < lines.n && n >= 0; at += (size_t)n) /* else it does not read: it knows that the last line is missing */
		n = send(fd, lines.s + at, lines.n - at, MSG_NOSIGNAL);
	close(fd);
	dt_buf_free(&lines);
}

/* ---- the bounds ---- */

/* Every second. 0, or -1: it cannot go on. */
static int look_after(struct durable *d)
{
	uint64_t used, most = dt_opt(&d->h->opts, DT_O_MEMLIMIT);

	if (dt_now() - d->written < SECOND)
		return 0;
	write_state(d);
	used = dt_memory_used();
	if (used <= most)
		return 0;
	return dt_session_err(d->h, ENOMEM, "its process has %llu MB of memory, more than memlimit allows (%llu MB)",
			      (unsigned long long)(used >> 20), (unsigned long long)(most >> 20));
}

/* ---- the session ---- */

static int compile(struct durable *d)
{
	char *words[] = {(char *)d->d.script};
	struct dtrace_compile_opts o = {.size = sizeof(o), .argc = 1, .argv = words, .name = d->d.script};
	dtrace_hdl_t *h = d->h;
	FILE *f = fopen(d->d.script, "re");
	dtrace_prog_t *p;
	uint64_t format;

	if (!f)
		return dt_session_err(h, errno, "cannot read it: %s", strerror(errno));
	p = dtrace_compile_file(h, f, &o);
	fclose(f);
	if (!p)
		return -1;
	format = dt_opt(&h->opts, DT_O_OFORMAT);
	d->is_text = format == DT_OFORMAT_TEXT;
	if (!d->is_text && format != DT_OFORMAT_NDJSON)
		return dt_session_err(h, EDT_BADOPTVAL, "a durable session has oformat=text or ndjson: others are for sessions with an end");
	if (h->opts.text[DT_O_STREAM] && strcmp(h->opts.text[DT_O_STREAM], "nats") == 0 && !d->d.nats)
		return dt_session_err(h, EDT_BADOPTVAL, "stream=nats means the server of dtraced -N, and there is none");
	dtrace_setopt(h, "brief", "no"); /* the line that explains a clause may be in a file that is gone */
	return dtrace_enable(h, p, NULL);
}

static void read_stream(struct durable *d)
{
	const char *url = d->h->opts.text[DT_O_STREAM];

	d->st.stream[0] = 0;
	if (url && strcmp(url, "nats") == 0)
		url = d->d.nats;
	if (url)
		snprintf(d->st.stream, sizeof(d->st.stream), "%s", url);
	d->st.n[DT_KEPT_STREAMSIZE] = dt_opt(&d->h->opts, DT_O_STREAMSIZE);
	d->st.n[DT_KEPT_STREAMAGE] = dt_opt(&d->h->opts, DT_O_STREAMAGE);
}

static int open_store(struct durable *d)
{
	struct dt_store_env env = {.dir = d->dir,
				   .size = dt_opt(&d->h->opts, DT_O_LOGSIZE),
				   .files = dt_opt(&d->h->opts, DT_O_LOGFILES),
				   .arg = d,
				   .head = head};

	d->store = dt_store_open(&env, &d->h->err);
	if (!d->store)
		return dt_session_fail(d->h);
	dt_store_state_read(d->dir, &d->st); /* after the lock: an earlier process may just have ended */
	d->old_lines = d->st.n[DT_KEPT_LINES];
	d->old_bytes = d->st.n[DT_KEPT_BYTES];
	tell_begin(d);
	read_stream(d);
	snprintf(d->st.state, sizeof(d->st.state), "running");
	snprintf(d->st.format, sizeof(d->st.format), "%s", d->is_text ? "text" : "ndjson");
	d->st.why[0] = 0;
	d->st.n[DT_KEPT_PID] = (uint64_t)getpid();
	d->st.n[DT_KEPT_SINCE] = dt_now_wall();
	d->st.n[DT_KEPT_STARTS]++;
	return 0;
}

static int begin(struct durable *d)
{
	dtrace_hdl_t *h = d->h;

	if (compile(d) < 0 || open_store(d) < 0)
		return -1;
	dtrace_handle_diag(h, ignore_diag, NULL);
	dtrace_handle_output(h, d->is_text ? take_text : take_lines, d);
	if (d->d.begin && d->d.begin(h, d->d.arg) != 0)
		return dt_session_err(h, EDT_DIRABORT, NULL);
	d->next = h->copy;
	d->next_arg = h->copy_arg;
	if (d->is_text)
		dtrace_handle_events(h, take_events, d);
	if (dtrace_set_output(h, NULL) < 0 || dtrace_go(h) < 0)
		return -1;
	d->control = listen_at(d->dir);
	if (dtrace_fd(h) >= 0 && d->control >= 0)
		epoll_ctl(dtrace_fd(h), EPOLL_CTL_ADD, d->control, &(struct epoll_event){.events = EPOLLIN});
	write_state(d);
	return 0;
}

/* 0: it is done; 1: it shall end; -1: h has the error. */
static int run(struct durable *d)
{
	enum dtrace_work_status st;
	int rc = 0;

	while ((st = dtrace_work(d->h, NULL)) == DTRACE_WORK_OKAY) {
		if (look_after(d) < 0)
			return -1;
		if (d->d.wait(d->h, d->d.arg) != 0) {
			rc = 1;
			break;
		}
		answer(d);
	}
	if (st == DTRACE_WORK_ERROR)
		return -1;
	if (dtrace_stop(d->h) < 0 || dtrace_work(d->h, NULL) == DTRACE_WORK_ERROR || dtrace_aggregate_print(d->h, NULL) < 0)
		return -1;
	return rc;
}

/* The last line, and the state that it stays in. */
static void finish(struct durable *d, int rc, const char *why)
{
	char text[200 + 512];

	if (rc < 0)
		snprintf(text, sizeof(text), "session %s fails: %.512s", d->d.name, why);
	else
		snprintf(text, sizeof(text), "session %s %s", d->d.name, rc ? "stops" : "is done");
	snprintf(d->st.state, sizeof(d->st.state), "%s", rc < 0 ? "waiting" : rc ? "stopped" : "done");
	snprintf(d->st.why, sizeof(d->st.why), "%s", rc < 0 ? why : rc ? "it was stopped" : "");
	d->st.n[DT_KEPT_PID] = 0;
	note(d, text);
	write_state(d);
	dt_store_close(d->store);
}

int dtrace_durable_run(const struct dtrace_durable *in, char *why, size_t n)
{
	struct durable d = {.control = -1};
	struct utsname u = {0};
	int rc;

	memcpy(&d.d, in, in->size < sizeof(d.d) ? in->size : sizeof(d.d));
	uname(&u);
	d.dir = dt_xasprintf("%s/%s", d.d.folder, d.d.name);
	d.h = dtrace_open(NULL);
	dt_machines_init(d.h, d.d.machine ? d.d.machine : u.nodename);
	d.h->here.is_agent = false; /* clauses of four parts are for this machine */
	snprintf(d.machine, sizeof(d.machine), "%s", d.h->here.name);
	dtrace_setopt(d.h, "temporal", "yes");
	dtrace_setopt(d.h, "overhead", OVERHEAD);
	rc = begin(&d);
	if (rc == 0)
		rc = run(&d);
	snprintf(why, n, "%s", rc < 0 ? dtrace_errtext(d.h) : "");
	if (d.d.end && rc >= 0)
		d.d.end(d.h, d.d.arg);
	dtrace_close(d.h); /* detached, before anybody is told that it has ended */
	if (d.store)
		finish(&d, rc, why);
	if (d.control >= 0)
		close(d.control);
	dt_buf_free(&d.lines);
	free(d.dir);
	return rc;
}

int dtrace_durable_state(const char *folder, const char *name, const char *state, const char *why)
{
	char *dir = dt_xasprintf("%s/%s", folder, name);
	struct dt_store_state st;
	int rc;

	dt_store_state_read(dir, &st);
	snprintf(st.state, sizeof(st.state), "%s", state);
	snprintf(st.why, sizeof(st.why), "%s", why);
	st.n[DT_KEPT_PID] = 0;
	rc = dt_store_state_write(dir, &st);
	free(dir);
	return rc;
}

int dtrace_durable_has_stream(const char *folder, const char *name)
{
	char *dir = dt_xasprintf("%s/%s", folder, name);
	bool due = dt_ship_is_due(dir);

	free(dir);
	return due;
}

int dtrace_durable_ship(const char *folder, const char *name, const char *machine, char *why, size_t n)
{
	char *dir = dt_xasprintf("%s/%s", folder, name);
	struct utsname u = {0};
	dt_error err = {0};
	int rc;

	uname(&u);
	rc = dt_ship(dir, machine ? machine : u.nodename, name, &err);
	snprintf(why, n, "%s", rc < 0 ? err.text : "");
	free(dir);
	return rc;
}

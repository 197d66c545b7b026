/*
 * attached: durable sessions of this machine and of others: a list of them, and the output of one as if it were traced here.
 *
 * A session's output is lines of ndjson (doc/ndjson.md): those of type text are what it would have printed. With oformat=ndjson
 * all others are written, as they are.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "fleet/viewer.h"
#include "format/formats.h"
#include "session/session.h"

struct dt_attached {
	dt_viewer *watch;
	char *machine, *name; /* machine NULL: any */
	FILE *out;
	bool raw, safe, failed;
	dt_buf text;
};

/* ---- the list ---- */

struct listing {
	dtrace_hdl_t *h;
	dtrace_session_f *f;
	void *arg;
};

static int list_row(void *arg, const struct dt_viewer_row *r)
{
	const struct listing *l = arg;
	const uint64_t *n = r->session.n;
	char name[DT_WIRE_NAME_MAX + 1], state[64], why[512];
	struct dtrace_session s = {.size = sizeof(s),
				   .machine = r->machine,
				   .name = name,
				   .state = state,
				   .why = why,
				   .since = n[DT_WS_SINCE],
				   .starts = n[DT_WS_STARTS],
				   .bytes = n[DT_WS_BYTES],
				   .removed = n[DT_WS_REMOVED],
				   .drops = n[DT_WS_DROPS],
				   .lost = n[DT_WS_LOST],
				   .unsent = n[DT_WS_UNSENT]};

	snprintf(name, sizeof(name), "%s", r->session.name);
	snprintf(state, sizeof(state), "%s", r->session.state);
	snprintf(why, sizeof(why), "%s", r->session.why);
	dt_make_safe(name, strlen(name), false);
	dt_make_safe(state, strlen(state), false);
	dt_make_safe(why, strlen(why), false);
	return l->f(l->h, &s, l->arg);
}

int dtrace_session_iter(dtrace_hdl_t *h, dtrace_session_f *f, void *arg)
{
	struct listing l = {h, f, arg};

	dt_machines_open(h, true);
	return dt_viewer_list(h->fleet, list_row, &l);
}

/* ---- one of them ---- */

int dtrace_attach(dtrace_hdl_t *h, const char *which, int from_start)
{
	struct dt_attached *a = dt_xcalloc(1, sizeof(*a));
	const char *colon = strrchr(which, ':');

	dt_machines_open(h, true);
	a->machine = colon ? dt_xasprintf("%.*s", (int)(colon - which), which) : NULL;
	a->name = dt_xstrdup(colon ? colon + 1 : which);
	dt_attached_free(h);
	h->attached = a;
	memset(&h->err, 0, sizeof(h->err));
	a->watch = dt_viewer_new(h->fleet, a->machine, a->name, from_start, &h->err);
	return a->watch ? 0 : dt_session_fail(h);
}

void dt_attached_free(dtrace_hdl_t *h)
{
	struct dt_attached *a = h->attached;

	if (!a)
		return;
	dt_viewer_free(a->watch);
	dt_buf_free(&a->text);
	free(a->machine);
	free(a->name);
	free(a);
	h->attached = NULL;
}

/* Messages: what a person has to know, besides the text. */
static int tell(dtrace_hdl_t *h, const char *type, const char *text)
{
	static const struct {
		const char *type;
		enum dt_diag_kind kind;
	} kinds[] = {{"drop", DT_DIAG_DROP},
		     {"fault", DT_DIAG_FAULT},
		     {"error", DT_DIAG_FAULT},
		     {"process", DT_DIAG_PROCESS},
		     {"note", DT_DIAG_NOTE}};

	for (size_t i = 0; i < DT_NELEM(kinds); i++)
		if (strcmp(kinds[i].type, type) == 0)
			return dt_session_diag(h, kinds[i].kind, text);
	return 0;
}

static void write_out(struct dt_attached *a, const char *p, size_t n)
{
	if (fwrite(p, 1, n, a->out) != n)
		a->failed = true;
}

/* As it has come; a terminal obeys no part of it. */
static void write_line(struct dt_attached *a, const char *line, size_t n)
{
	dt_buf_reset(&a->text);
	dt_buf_add(&a->text, line, n);
	if (a->safe)
		dt_make_safe(a->text.s, a->text.n, true);
	write_out(a, a->text.s, a->text.n);
}

static void show_line(dtrace_hdl_t *h, const char *line, size_t n, bool is_text)
{
	struct dt_attached *a = h->attached;
	char type[16];
	bool text;

	dt_buf_reset(&a->text);
	if (!dt_ndjson_read(line, n, type, &a->text))
		return;
	text = strcmp(type, "text") == 0;
	if (a->raw || !is_text) {
		if (!text)
			write_line(a, line, n);
		return;
	}
	if ((a->safe || !text) && a->text.n) /* standard error may be a terminal when the output is not */
		dt_make_safe(a->text.s, a->text.n, true);
	if (text)
		write_out(a, a->text.s, a->text.n);
	else if (a->text.n && tell(h, type, a->text.s) < 0)
		a->failed = true;
}

static void show_lines(void *arg, const char *machine, bool is_text, uint64_t missed, const char *lines, size_t n)
{
	dtrace_hdl_t *h = arg;
	dt_buf b = {0};

	if (missed) {
		dt_buf_printf(&b, "%s: %llu bytes of output are missing: they were removed before they could be read", machine,
			      (unsigned long long)missed);
		tell(h, "drop", b.s);
		dt_buf_free(&b);
	}
	while (n) {
		const char *end = memchr(lines, '\n', n);
		size_t len = end ? (size_t)(end + 1 - lines) : n;

		show_line(h, lines, len, is_text);
		lines += len;
		n -= len;
	}
}

static struct dt_attached *begin(dtrace_hdl_t *h, FILE *out)
{
	struct dt_attached *a = h->attached;

	if (!a || !a->watch)
		return NULL;
	a->out = out;
	a->raw = dt_opt(&h->opts, DT_O_OFORMAT) == DT_OFORMAT_NDJSON;
	a->safe = isatty(fileno(out)) && !dt_opt(&h->opts, DT_O_RAWOUTPUT);
	errno = 0;
	return a;
}

enum dtrace_work_status dtrace_attach_work(dtrace_hdl_t *h, FILE *out, int ms)
{
	struct dt_attached *a = begin(h, out);
	bool more;

	if (!a) {
		dt_session_err(h, EINVAL, "no session is attached");
		return DTRACE_WORK_ERROR;
	}
	more = dt_viewer_work(a->watch, ms, show_lines, h);
	if (a->failed) {
		dt_session_err(h, errno ? errno : EIO, NULL);
		return DTRACE_WORK_ERROR;
	}
	return more ? DTRACE_WORK_OKAY : DTRACE_WORK_DONE;
}

int dtrace_attach_end(dtrace_hdl_t *h, FILE *out)
{
	struct dt_attached *a = begin(h, out);

	if (!a)
		return 0;
	if (dt_viewer_is_broken(a->watch))
		return dt_session_err(h, EPIPE, "a machine has gone before its session had ended");
	dt_viewer_end(a->watch, show_lines, h);
	return a->failed ? dt_session_err(h, errno ? errno : EIO, NULL) : 0;
}

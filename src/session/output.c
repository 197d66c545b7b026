/*
 * output: where a session's output goes, and in which form: to a stream or a function in the format of option
 * oformat, or as typed values to the functions of a consumer.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/formats.h"
#include "session/session.h"

static const struct dt_writer_ops *writer_of(const dtrace_hdl_t *h)
{
	return h->typed.size ? &dt_writer_callbacks
			     : dt_format_writer(dt_opt(&h->opts, DT_O_OFORMAT));
}

int dt_output_check(dtrace_hdl_t *h)
{
	const struct dt_writer_ops *w = writer_of(h);
	const char *name;
	size_t n;

	memset(&h->err, 0, sizeof(h->err));
	if (w)
		return w->prepare && w->prepare(&h->opts, &h->err) < 0 ? dt_session_fail(h) : 0;
	name = dt_option_choice(DT_O_OFORMAT, dt_opt(&h->opts, DT_O_OFORMAT), &n);
	return dt_session_err(h, EDT_BADOPTVAL, "output format \"%.*s\" is not available yet",
			      (int)n, name);
}

const char *dtrace_output_mode(const dtrace_hdl_t *h)
{
	const struct dt_writer_ops *w = writer_of(h);

	return w && w->flags & DT_WRITER_DOCUMENT ? "we" : "ae";
}

/* ---- queries of the consumer ---- */

static int consumer_diag(void *arg, const dt_diag *d)
{
	return dt_session_hand_over(arg, d);
}

/* In data of other machines, names have addresses of their own. */
static bool is_far(const dtrace_hdl_t *h, uint64_t addr, const char **mod, const char **sym, uint64_t *off)
{
	return h->fleet && dt_fleet_name(h->fleet, addr, mod, sym, off);
}

static bool consumer_ksym(void *arg, uint64_t addr, const char **mod, const char **sym,
			  uint64_t *off)
{
	dtrace_hdl_t *h = arg;

	return is_far(h, addr, mod, sym, off) || dt_ksym_by_addr(dt_probes_ksyms(h->probes), addr, mod, sym, off);
}

static bool consumer_usym(void *arg, long pid, uint64_t time, uint64_t addr, const char **obj, const char **sym,
			  uint64_t *off)
{
	return is_far(arg, addr, obj, sym, off) || dt_symbols_find(arg, pid, time, addr, obj, sym, off);
}

static bool consumer_line(void *arg, long pid, uint64_t time, uint64_t addr, const char **file, unsigned *line)
{
	const char *mod, *sym;
	uint64_t off;

	return !is_far(arg, addr, &mod, &sym, &off) && dt_symbols_line(arg, pid, time, addr, file, line);
}

void dt_output_symbols(dtrace_hdl_t *h, struct dt_consumer_env *env)
{
	env->opts = &h->opts;
	env->types = h->types;
	env->arg = h;
	env->ksym = consumer_ksym;
	env->usym = consumer_usym;
	env->line = consumer_line;
	env->keep = dt_symbols_keep;
}

static int consumer_emit(void *arg, const void *data, size_t n)
{
	dtrace_hdl_t *h = arg;

	return h->output(data, n, h->output_arg);
}

static int consumer_emit_also(void *arg, const void *data, size_t n)
{
	dtrace_hdl_t *h = arg;

	return h->copy(data, n, h->copy_arg);
}

/* The file of a stream, when it is a regular one: what ftruncate() in D truncates. */
static char *stream_path(FILE *out)
{
	char link[64], path[4096];
	struct stat st;
	ssize_t n;

	if (!out || fileno(out) < 0 || fstat(fileno(out), &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fileno(out));
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return NULL;
	path[n] = 0;
	return dt_xstrdup(path);
}

int dt_output_open(dtrace_hdl_t *h, FILE *out)
{
	bool elsewhere = h->typed.size || h->output;
	struct dt_consumer_env env = {
	    .writer = writer_of(h),
	    .writer_arg = &h->typed,
	    .out = elsewhere ? NULL : out,
	    .emit = h->output ? consumer_emit : NULL,
	    .also = h->copy ? &dt_writer_ndjson : NULL,
	    .emit_also = consumer_emit_also,
	    .diag = consumer_diag,
	};

	if (h->consumer)
		return 0;
	if (!elsewhere && !out)
		return dt_session_err(
		    h, EINVAL, "there is nowhere to write to: no stream, no function, no consumer");
	if (dt_output_check(h) < 0)
		return -1;
	dt_output_symbols(h, &env);
	h->out_path = stream_path(env.out);
	env.out_path = h->out_path;
	h->consumer = dt_consumer_new(&env);
	return 0;
}

/* ---- the API ---- */

int dtrace_set_output(dtrace_hdl_t *h, FILE *out)
{
	if (h->consumer)
		return dt_session_err(h, EDT_ACTIVE, NULL);
	return dt_output_open(h, out);
}

int dtrace_consume(dtrace_hdl_t *h, const struct dtrace_consumer *c)
{
	if (h->consumer)
		return dt_session_err(h, EDT_ACTIVE, NULL);
	if (c->size < offsetof(struct dtrace_consumer, record))
		return dt_session_err(h, EINVAL, "the size of the consumer is not set");
	memset(&h->typed, 0, sizeof(h->typed));
	memcpy(&h->typed, c, c->size < sizeof(h->typed) ? c->size : sizeof(h->typed));
	return 0;
}

void dtrace_handle_output(dtrace_hdl_t *h, dtrace_output_f *f, void *arg)
{
	h->output = f;
	h->output_arg = arg;
}

void dtrace_handle_events(dtrace_hdl_t *h, dtrace_output_f *f, void *arg)
{
	h->copy = f;
	h->copy_arg = arg;
}

int dtrace_aggregate_write(dtrace_hdl_t *h, const char *format, FILE *out)
{
	const struct dt_writer_ops *ops = dt_format_named(format);
	dt_buf text = {0};
	int rc;

	if (!ops)
		return dt_session_err(h, EDT_BADOPTVAL, "unknown output format \"%s\"", format);
	if (!h->consumer)
		return dt_session_err(h, EINVAL, "tracing has not begun");
	memset(&h->err, 0, sizeof(h->err));
	rc = dt_consumer_write_aggs(h->consumer, ops, &text, &h->err);
	errno = 0;
	if (rc == 0 && text.n && fwrite(text.s, 1, text.n, out) != text.n)
		rc = dt_err(&h->err, errno ? errno : EIO, NULL);
	dt_buf_free(&text);
	return rc < 0 ? dt_session_fail(h) : 0;
}

struct walk {
	dt_typed *maker;
	dtrace_row_f *f;
	void *arg;
};

static int walk_table(void *arg, const dt_aggtable *t)
{
	const struct walk *w = arg;

	return dt_typed_rows(w->maker, t, 0, w->f, w->arg);
}

int dtrace_aggregate_walk(dtrace_hdl_t *h, dtrace_row_f *f, void *arg)
{
	struct walk w = {.f = f, .arg = arg};
	int rc;

	if (!h->consumer)
		return 0;
	w.maker = dt_typed_new(dt_consumer_environment(h->consumer));
	rc = dt_consumer_walk_aggs(h->consumer, walk_table, &w);
	dt_typed_free(w.maker);
	return rc;
}

int dtrace_message_write(const dtrace_hdl_t *h, const char *text, int with_error, FILE *out)
{
	dt_buf b = {0};

	if (dt_opt(&h->opts, DT_O_OFORMAT) != DT_OFORMAT_NDJSON)
		return 0;
	dt_ndjson_error(&b, text, with_error ? &h->err : NULL);
	fwrite(b.s, 1, b.n, out);
	dt_buf_free(&b);
	return 1;
}

void dtrace_make_safe(char *text, size_t n, int lines)
{
	dt_make_safe(text, n, lines);
}

int dtrace_tell(dtrace_hdl_t *h, enum dtrace_diag_kind kind, const char *text)
{
	static const enum dt_diag_kind map[] = {
	    [DTRACE_DIAG_DROP] = DT_DIAG_DROP,
	    [DTRACE_DIAG_FAULT] = DT_DIAG_FAULT,
	    [DTRACE_DIAG_NOTE] = DT_DIAG_NOTE,
	};

	return dt_session_diag(h, map[kind], text);
}

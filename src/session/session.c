/*
 * session: open and close a handle, set options, explain errors.
 *
 * A handle owns one of everything. Opening reads no file: types, probes and libraries are read when
 * a program needs them. An error is kept as a value (h->err) and, composed once, as the text a user
 * reads (h->errtext); both hold until the next call that fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "session/probe_source.h"
#include "session/session.h"

dtrace_hdl_t *dtrace_open(const struct dtrace_open_opts *opts)
{
	dtrace_hdl_t *h = dt_xcalloc(1, sizeof(*h));
	struct dt_probe_source source;

	if (pipe2(h->wake, O_CLOEXEC | O_NONBLOCK) < 0) {
		if (opts && opts->error)
			*opts->error = errno;
		free(h);
		return NULL;
	}
	dt_options_init(&h->opts);
	if (getenv("DTRACE_DEBUG"))
		dt_options_set(&h->opts, "debug", NULL, DT_WHEN_OPEN, &h->err);
	h->types = dt_types_new();
	h->probes = dt_probes_new();
	dt_probes_set_types(h->probes, h->types);
	dt_probes_set_options(h->probes, &h->opts);
	dt_progress_init(&h->progress);
	h->jail = dt_jail_new(&h->stop, &h->progress);
	dt_targets_new(h);
	dt_objects_offer(h);
	dt_probe_source_init(h->probes, &source);
	h->cc = dt_compiler_new(h->types, &h->opts, &h->macros, &source);
	dt_libs_open(h);
	dt_machines_init(h, NULL);
	return h;
}

/* Options ctypes and dtypes: write the types to files. */
static void write_types(dtrace_hdl_t *h, enum dt_opt_id option, const char *container)
{
	const char *path = h->opts.text[option];
	FILE *f = path ? fopen(path, "we") : NULL;
	dt_buf b = {0};
	bool ok = f;

	if (!path)
		return;
	if (f) {
		dt_types_dump(h->types, container, &b);
		ok = b.n == 0 || fwrite(b.s, 1, b.n, f) == b.n;
		ok = fclose(f) == 0 && ok;
	}
	if (!ok) {
		dt_buf_reset(&b);
		dt_buf_printf(&b, "failed to create %s: %s", path, strerror(errno));
		dt_session_diag(h, DT_DIAG_FAULT, b.s);
	}
	dt_buf_free(&b);
}

void dtrace_close(dtrace_hdl_t *h)
{
	if (!h)
		return;
	write_types(h, DT_O_CTYPES, "C");
	write_types(h, DT_O_DTYPES, "D");
	if (h->engine)
		h->engine_ops->close(h->engine);
	dt_engine_process.places(&h->placed, NULL, NULL, NULL, NULL);
	dt_consumer_free(h->consumer);
	free(h->out_path);
	dt_grow_free(h);
	dt_map_free(h->events);
	dt_vec_free(&h->ecbs);
	dt_vec_free(&h->clauses);
	dt_libs_free(h->libs);
	dt_compiler_free(h->cc);
	dt_probes_free(h->probes);
	dt_symbols_free(h);
	dt_procs_free(h->procs);
	dt_types_free(h->types);
	dt_jail_free(h->jail);
	dt_options_free(&h->opts);
	dt_wait_free(h);
	dt_attached_free(h);
	dt_fleet_free(h->fleet);
	close(h->wake[0]);
	close(h->wake[1]);
	free(h);
}

const char *dtrace_version(void)
{
	return DT_VERSION_TEXT;
}

int dtrace_api_version(void)
{
	return DTRACE_API_VERSION;
}

/* ---- errors ---- */

int dt_session_fail(dtrace_hdl_t *h)
{
	const dt_error *e = &h->err;
	bool tagged = e->tag && dt_opt(&h->opts, DT_O_ERRTAGS);
	dt_buf b = {0};

	if (tagged)
		dt_buf_printf(&b, "[%s] ", dt_tag_name(e->tag));
	if (e->pos.file && e->pos.line)
		dt_buf_printf(&b, "\"%s\", line %u: ", e->pos.file, e->pos.line);
	else if (e->region)
		dt_buf_puts(&b, e->region);
	else if (e->pos.line)
		dt_buf_printf(&b, "line %u: ", e->pos.line);
	dt_buf_puts(&b, e->text[0] ? e->text : dt_strerror(e->code));
	snprintf(h->errtext, sizeof(h->errtext), "%s", b.s);
	dt_buf_free(&b);
	return -1;
}

int dt_session_err(dtrace_hdl_t *h, int code, const char *fmt, ...)
{
	va_list ap;

	memset(&h->err, 0, sizeof(h->err));
	h->err.code = code;
	if (fmt) {
		va_start(ap, fmt);
		vsnprintf(h->err.text, sizeof(h->err.text), fmt, ap);
		va_end(ap);
	}
	return dt_session_fail(h);
}

int dtrace_errno(const dtrace_hdl_t *h)
{
	return h->err.code;
}

const char *dtrace_errtext(const dtrace_hdl_t *h)
{
	return h->errtext;
}

const char *dtrace_errtag(const dtrace_hdl_t *h)
{
	return dt_tag_name(h->err.tag);
}

void dtrace_errwhere(const dtrace_hdl_t *h, struct dtrace_errpos *pos)
{
	pos->file = h->err.pos.file;
	pos->line = h->err.pos.line;
	pos->column = h->err.pos.column;
	pos->source = h->err.source;
	pos->message = h->err.text[0] ? h->err.text : dt_strerror(h->err.code);
}

/* ---- options ---- */

int dtrace_setopt(dtrace_hdl_t *h, const char *name, const char *value)
{
	enum dt_opt_when when = h->state == DT_SESSION_NEW ? DT_WHEN_OPEN : DT_WHEN_TRACING;

	memset(&h->err, 0, sizeof(h->err));
	if (dt_options_set(&h->opts, name, value, when, &h->err) < 0)
		return dt_session_fail(h);
	return 0;
}

int dtrace_getopt(dtrace_hdl_t *h, const char *name, uint64_t *value)
{
	int id = dt_options_find(name);

	if (id < 0)
		return dt_session_err(h, EDT_BADOPTNAME, NULL);
	*value = dt_opt(&h->opts, id);
	return 0;
}

const char *dtrace_getopt_text(dtrace_hdl_t *h, const char *name)
{
	int id = dt_options_find(name);

	return id < 0 ? NULL : h->opts.text[id];
}

const char *dtrace_option_values(const char *name)
{
	int id = dt_options_find(name);

	return id < 0 ? NULL : dt_opt_table[id].choices;
}

const char *dtrace_option_name(int i)
{
	return i >= 0 && i < DT_O_MAX ? dt_opt_table[i].name : NULL;
}

const char *dtrace_option_help(int i)
{
	return i >= 0 && i < DT_O_MAX ? dt_opt_table[i].help : NULL;
}

/* ---- diagnostics ---- */

void dtrace_handle_diag(dtrace_hdl_t *h, dtrace_diag_f *f, void *arg)
{
	h->diag = f;
	h->diag_arg = arg;
}

int dt_session_hand_over(dtrace_hdl_t *h, const dt_diag *d)
{
	static const enum dtrace_diag_kind map[] = {
	    [DT_DIAG_DROP] = DTRACE_DIAG_DROP,
	    [DT_DIAG_FAULT] = DTRACE_DIAG_FAULT,
	    [DT_DIAG_NOTE] = DTRACE_DIAG_NOTE,
	    [DT_DIAG_PROCESS] = DTRACE_DIAG_NOTE,
	    [DT_DIAG_COST] = DTRACE_DIAG_DROP,
	};

	if (h->diag)
		return h->diag(h, map[d->kind], d->text, h->diag_arg);
	fprintf(stderr, "dtrace: %s\n", d->text);
	return 0;
}

int dt_session_tell(dtrace_hdl_t *h, const dt_diag *d)
{
	if (h->consumer && dt_consumer_takes(h->consumer, d))
		return 0;
	return dt_session_hand_over(h, d);
}

int dt_session_diag(dtrace_hdl_t *h, enum dt_diag_kind kind, const char *text)
{
	dt_diag d = {.kind = kind, .text = text};

	return dt_session_tell(h, &d);
}

void dt_session_debug(const dtrace_hdl_t *h, const char *fmt, ...)
{
	va_list ap;

	if (!dt_opt(&h->opts, DT_O_DEBUG))
		return;
	fprintf(stderr, "libdtrace DEBUG: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

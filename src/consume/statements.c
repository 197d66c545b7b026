/*
 * statements: what the consumer does for each statement of a clause, when a record of it comes.
 *
 * Those that print become events for the writer. Those that act on the consumer itself (clear, trunc,
 * normalize, setopt, freopen ...) are done here at once. The aggregations are read before the first
 * statement of a round that uses them, so that it sees every update by its own and by earlier
 * firings.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "consume/consumer.h"

struct walk { /* one statement of one record */
	dt_consumer *c;
	const dt_record *rec;
	const dt_stmt *stmt;
	const dt_action *actions; /* of the statement */
	const dt_datum *data;
	uint32_t n;
};

static dt_value nth_value(const struct walk *k, uint32_t i)
{
	dt_value v = {0};

	if (i < k->n)
		dt_value_of(&k->actions[i], &k->data[i], &v);
	v.time = k->rec->timestamp;
	return v;
}

/* The integer that the statement recorded, if any. */
static bool last_int(const struct walk *k, int64_t *n)
{
	for (uint32_t i = k->n; i-- > 0;) {
		dt_value v = nth_value(k, i);

		if (v.kind == DT_V_INT) {
			*n = (int64_t)v.u;
			return true;
		}
	}
	return false;
}

static char *nth_string(const struct walk *k, uint32_t i)
{
	dt_value v = nth_value(k, i);
	dt_buf b = {0};

	if (v.kind != DT_V_STRING && v.kind != DT_V_BYTES)
		return dt_xstrdup("");
	dt_buf_add(&b, v.data, strnlen(v.data, v.size));
	return b.s ? b.s : dt_xstrdup("");
}

/* A fault of a statement here, not of a clause in the engine. */
static int complain(dt_consumer *c, const char *why)
{
	dt_diag d = {.kind = DT_DIAG_FAULT, .text = why};

	return dt_consumer_tell(c, &d) ? dt_err(c->err, EDT_ERRABORT, NULL) : 0;
}

static int do_trace(struct walk *k)
{
	dt_value v = nth_value(k, 0);

	DT_TELL(k->c, trace, &v);
	return 0;
}

static int do_print(struct walk *k)
{
	dt_value v = nth_value(k, 0);

	DT_TELL(k->c, print, &v, k->stmt->type ? k->stmt->type : v.type);
	return 0;
}

/* A computed size limits what is shown, if it is valid. */
static int do_memory(struct walk *k)
{
	dt_value v = nth_value(k, 0), size = nth_value(k, 1);

	if (v.kind == DT_V_NONE)
		return 0;
	if (size.kind == DT_V_INT && size.u > 0 && size.u < v.size)
		v.size = (uint32_t)size.u;
	DT_TELL(k->c, memory, &v);
	return 0;
}

/* printm(): a length, then that many bytes. */
static int do_printm(struct walk *k)
{
	dt_value v = nth_value(k, 0);
	uint64_t n;

	if (v.kind == DT_V_NONE || v.size < 8)
		return 0;
	n = dt_load_int(v.data, 8, false);
	v.data = (const char *)v.data + 8;
	v.size -= 8;
	if (n < v.size)
		v.size = (uint32_t)n;
	DT_TELL(k->c, memory, &v);
	return 0;
}

static int do_stack(struct walk *k)
{
	dt_value v = nth_value(k, 0);

	if (v.kind == DT_V_STACK)
		DT_TELL(k->c, stack, &v);
	return 0;
}

static int do_symbol(struct walk *k)
{
	dt_value v = nth_value(k, 0);

	if (v.kind == DT_V_SYMBOL)
		DT_TELL(k->c, symbol, &v);
	return 0;
}

/* The text of a printf-like statement; the values too when asked for (free both). */
static int format_text(struct walk *k, dt_buf *text, dt_value **values)
{
	dt_value *v = dt_xcalloc(k->n + 1, sizeof(*v));
	struct dt_format_env fe = {
	    .env = &k->c->env, .args = v, .nargs = k->n, .command = values == NULL};
	int rc = 0;

	for (uint32_t i = 0; i < k->n; i++)
		v[i] = nth_value(k, i);
	if (k->stmt->format)
		rc = dt_text_format(text, k->stmt->format, &fe, k->c->err);
	if (values)
		*values = v;
	else
		free(v);
	return rc;
}

static int do_printf(struct walk *k)
{
	dt_buf text = {0};
	dt_value *values;
	int rc = format_text(k, &text, &values);

	if (rc == 0)
		DT_TELL(k->c, printf, text.n ? text.s : "", text.n, k->stmt->format, values, k->n);
	dt_buf_free(&text);
	free(values);
	return rc;
}

static int do_system(struct walk *k)
{
	dt_buf text = {0};
	int rc = format_text(k, &text, NULL);

	if (rc == 0)
		rc = dt_consumer_flush(k->c);
	if (rc == 0 && text.n && !(k->c->ops->flags & DT_WRITER_PLAIN)) {
		char *apart = dt_xasprintf("exec >&2\n%s", text.s); /* its output is not ours */

		dt_buf_free(&text);
		dt_buf_puts(&text, apart);
		free(apart);
	}
	/* ECHILD: it has run, but our parent made us ignore SIGCHLD, so we cannot wait for it */
	if (rc == 0 && text.n && system(text.s) == -1 && errno != ECHILD)
		rc = dt_err(k->c->err, errno, "system(): %s", dt_strerror(errno));
	dt_buf_free(&text);
	return rc;
}

static int do_freopen(struct walk *k)
{
	dt_consumer *c = k->c;
	dt_buf text = {0};
	FILE *f = NULL;
	struct stat st;
	char *why;
	int rc = format_text(k, &text, NULL);

	if (rc == 0)
		rc = dt_consumer_flush(c);
	if (rc < 0)
		goto out;
	if (!c->out || c->ops->flags & DT_WRITER_DOCUMENT) {
		rc = complain(c, "freopen() has no effect on output that is one document");
		goto out;
	}
	if (text.n && text.s[0] && !(f = fopen(text.s, "ae"))) {
		why = dt_xasprintf("freopen(\"%s\"): %s", text.s, dt_strerror(errno));
		rc = complain(c, why);
		free(why);
		goto out;
	}
	if (c->reopened && fclose(c->reopened) != 0)
		rc = dt_err(c->err, errno, NULL);
	dt_pcap_end_file(c->pcap);
	c->reopened = f;
	free(c->reopened_path);
	c->reopened_path = dt_xstrdup(text.s ? text.s : "");
	c->reopened_empty = f && fstat(fileno(f), &st) == 0 && st.st_size == 0;
	dt_consumer_set_output(c, f ? f : c->env.out);
out:
	dt_buf_free(&text);
	return rc;
}

static int do_ftruncate(struct walk *k)
{
	dt_consumer *c = k->c;
	FILE *f = c->reopened ? c->reopened : c->out;

	if (dt_consumer_flush(c) < 0)
		return -1;
	if (f && !(c->ops->flags & DT_WRITER_DOCUMENT) && (c->reopened || c->env.out_path) &&
	    ftruncate(fileno(f), 0) == 0)
		rewind(f);
	dt_pcap_end_file(c->pcap); /* the next packet begins the file again */
	return 0;
}

/* ---- packets ---- */

/* Into the file that freopen() has named. From the first one on, text goes to the caller's stream. */
static int write_packet(dt_consumer *c, const dt_packet *p)
{
	dt_buf moved = {0};
	struct dt_pcap_file f = {.stream = c->reopened,
				 .path = c->reopened_path,
				 .was_empty = c->reopened_empty,
				 .text = &moved};
	dt_error err = {0};
	int rc = dt_pcap_write(c->pcap, &f, p, &err);

	if (rc < 0)
		rc = complain(c, err.text);
	else if (dt_pcap_has_file(c->pcap) && c->out != c->env.out)
		dt_consumer_set_output(c, c->env.out);
	if (moved.n && fwrite(moved.s, 1, moved.n, c->out) != moved.n)
		rc = dt_err(c->err, errno ? errno : EIO, NULL);
	dt_buf_free(&moved);
	return rc;
}

/* A packet, and its link type. */
static int do_pcap(struct walk *k)
{
	dt_value v = nth_value(k, 0), link = nth_value(k, 1);
	dt_consumer *c = k->c;
	dt_packet p;

	if (!dt_packet_of(&v, &link, &p))
		return 0;
	if (c->reopened)
		return write_packet(c, &p);
	if ((c->ops->flags & DT_WRITER_PLAIN) &&
	    dt_pcap_show(c->pcap, &p, &c->env, c->ops->output(c->w)))
		return 0;
	v.data = p.data;
	v.size = p.captured;
	DT_TELL(c, memory, &v);
	return 0;
}

int dt_report_lost_packets(dt_consumer *c)
{
	uint64_t n = dt_pcap_lost(c->pcap);
	char *why;
	int rc;

	if (!n)
		return 0;
	why = dt_xasprintf("pcap(): %llu packet%s not written", (unsigned long long)n,
			   n == 1 ? " was" : "s were");
	rc = complain(c, why);
	free(why);
	return rc;
}

/* A request for something that is not available is reported, and the program continues. */
static int do_setopt(struct walk *k)
{
	char *name = nth_string(k, 0), *value = nth_string(k, 1), *why;
	dt_error err = {0};
	int rc =
	    dt_options_set(k->c->env.opts, name, value[0] ? value : NULL, DT_WHEN_TRACING, &err);

	if (rc < 0) {
		why = dt_xasprintf("setopt(\"%s%s%s\"): %s", name, value[0] ? "\", \"" : "", value,
				   err.text[0] ? err.text : dt_strerror(err.code));
		rc = complain(k->c, why);
		free(why);
	}
	free(name);
	free(value);
	return rc;
}

static int do_printa(struct walk *k)
{
	dt_aggset **sets = dt_xcalloc(k->stmt->naggs + 1, sizeof(*sets));
	dt_aggtable t;
	int rc = dt_consumer_catch_up(k->c);

	for (uint32_t i = 0; i < k->stmt->naggs; i++) {
		sets[i] = dt_aggs_get(k->c->aggs, k->stmt->aggs[i]);
		sets[i]->printed = true;
	}
	if (k->stmt->naggs && rc == 0) {
		dt_aggtable_make(&t, sets, k->stmt->naggs, k->c->env.opts);
		t.format = k->stmt->format;
		rc = dt_consumer_give_aggs(k->c, &t);
		dt_aggtable_free(&t);
	}
	free(sets);
	return rc;
}

/* clear, trunc, normalize, denormalize. */
static int do_agg(struct walk *k)
{
	int64_t n = 0;
	bool given = last_int(k, &n);

	if (dt_consumer_catch_up(k->c) < 0)
		return -1;
	if (k->stmt->kind == DT_ST_NORMALIZE && (!given || n == 0))
		return dt_err(k->c->err, EDT_BADNORMAL, NULL);
	for (uint32_t i = 0; i < k->stmt->naggs; i++) {
		dt_aggset *s = dt_aggs_get(k->c->aggs, k->stmt->aggs[i]);

		switch (k->stmt->kind) {
		case DT_ST_CLEAR: dt_aggset_clear(s); break;
		case DT_ST_TRUNC: dt_aggset_trunc(s, n); break;
		case DT_ST_NORMALIZE: s->normal = (uint64_t)n; break;
		default: s->normal = 1; break;
		}
		if (k->stmt->kind == DT_ST_CLEAR || (k->stmt->kind == DT_ST_TRUNC && n == 0))
			DT_TELL(k->c, clear, s->agg);
	}
	return 0;
}

static int do_exit(struct walk *k)
{
	int64_t status = 0;

	last_int(k, &status);
	k->c->exit_status = (int)status;
	k->c->exiting = true;
	return 0;
}

static int do_stmt(struct walk *k)
{
	switch (k->stmt->kind) {
	case DT_ST_TRACE: return do_trace(k);
	case DT_ST_PRINT: return do_print(k);
	case DT_ST_TRACEMEM: return do_memory(k);
	case DT_ST_PRINTM: return do_printm(k);
	case DT_ST_STACK: return do_stack(k);
	case DT_ST_SYM: return do_symbol(k);
	case DT_ST_PRINTF: return do_printf(k);
	case DT_ST_SYSTEM: return do_system(k);
	case DT_ST_FREOPEN: return do_freopen(k);
	case DT_ST_PCAP: return do_pcap(k);
	case DT_ST_PRINTA: return do_printa(k);
	case DT_ST_CLEAR:
	case DT_ST_TRUNC:
	case DT_ST_NORMALIZE:
	case DT_ST_DENORMALIZE: return do_agg(k);
	case DT_ST_SETOPT: return do_setopt(k);
	case DT_ST_FTRUNCATE: return do_ftruncate(k);
	case DT_ST_EXIT: return do_exit(k);
	case DT_ST_EXPR:
	case DT_ST_AGG:
	case DT_ST_SPECULATE:
	case DT_ST_COMMIT:
	case DT_ST_DISCARD:
	case DT_ST_KERNEL:
	case DT_ST_CONTROL:
	case DT_ST_MAX: break; /* done when it was recorded */
	}
	return 0;
}

int dt_do_statement(dt_consumer *c, const dt_record *r, const dt_stmt *s)
{
	const dt_clause *cl = r->ecb->clause;
	struct walk k = {.c = c, .rec = r, .stmt = s};

	if (s->first > cl->nactions || s->nactions > cl->nactions - s->first)
		return 0;
	k.actions = cl->actions + s->first;
	k.data = r->values ? r->values + s->first : NULL;
	k.n = r->values ? s->nactions : 0;
	return do_stmt(&k);
}

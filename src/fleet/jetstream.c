/*
 * jetstream: see jetstream.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/budget.h"
#include "fleet/jetstream.h"

#define ANSWER_MS   5000
#define NOT_FOUND   404
#define WRONG_LAST  10071
#define OTHER_BOUNDS 10058

void dt_js_init(dt_js *js, dt_nats *n, const char *machine, const char *session)
{
	char m[DT_NATS_WORD + 1], s[DT_NATS_WORD + 1];

	dt_nats_word(m, machine);
	dt_nats_word(s, session);
	js->nats = n;
	snprintf(js->stream, sizeof(js->stream), "DTRACE_%s_%s", m, s);
	snprintf(js->subject, sizeof(js->subject), "dtrace.log.%s.%s", m, s);
}

/* What JetStream says is wrong; 0: nothing. *code: its number of the kind of error. */
static int refusal(const dt_buf *answer, uint64_t *kind, dt_error *err)
{
	uint64_t code = 0;
	size_t n, len;
	const char *e = dt_json_member(answer->s, answer->n, "error", &n), *text;
	dt_buf b = {0};

	*kind = 0;
	if (!e)
		return 0;
	dt_json_number(e, n, "code", &code);
	dt_json_number(e, n, "err_code", kind);
	text = dt_json_member(e, n, "description", &len);
	if (text)
		dt_json_unquote(text, len, &b);
	dt_err(err, EDT_COMPILER, "JetStream: %s", b.s ? b.s : "an error without a reason");
	dt_buf_free(&b);
	return code ? (int)code : 500;
}

/* An answer without an error: 0; its kind of error: >0; none came: -1. */
static int ask(dt_nats *n, const char *what, const char *stream, const dt_buf *body, dt_buf *answer, uint64_t *kind, dt_error *err)
{
	char *subject = dt_xasprintf("$JS.API.%s%s%s", what, stream ? "." : "", stream ? stream : "");
	struct dt_nats_asked q = {.subject = subject, .data = body->s ? body->s : "", .len = body->n, .ms = ANSWER_MS,
				  .harmless = strcmp(what, "STREAM.LIST") == 0 || strcmp(what, "STREAM.INFO") == 0};
	int rc = dt_nats_question(n, &q, answer, err);

	free(subject);
	return rc < 0 ? -1 : refusal(answer, kind, err);
}

int dt_js_create(const dt_js *js, uint64_t bytes, uint64_t age, dt_error *err)
{
	dt_buf b = {0}, answer = {0};
	uint64_t kind;
	int rc;

	dt_buf_printf(&b,
		      "{\"name\":\"%s\",\"subjects\":[\"%s\"],\"retention\":\"limits\",\"max_consumers\":-1,\"max_msgs\":-1,"
		      "\"max_bytes\":%llu,\"max_age\":%llu,\"max_msg_size\":-1,\"storage\":\"file\",\"discard\":\"old\",\"num_replicas\":1}",
		      js->stream, js->subject, (unsigned long long)bytes, (unsigned long long)age);
	rc = ask(js->nats, "STREAM.CREATE", js->stream, &b, &answer, &kind, err);
	if (rc > 0 && kind == OTHER_BOUNDS) {
		dt_buf_reset(&answer);
		rc = ask(js->nats, "STREAM.UPDATE", js->stream, &b, &answer, &kind, err);
	}
	dt_buf_free(&b);
	dt_buf_free(&answer);
	return rc ? -1 : 0;
}

bool dt_js_read_info(const dt_buf *answer, struct dt_js_info *out)
{
	size_t n;
	const char *state = dt_json_member(answer->s, answer->n, "state", &n);

	return state && dt_json_number(state, n, "first_seq", &out->first) && dt_json_number(state, n, "last_seq", &out->last) &&
	       dt_json_number(state, n, "bytes", &out->bytes);
}

int dt_js_info(const dt_js *js, struct dt_js_info *out, dt_error *err)
{
	dt_buf none = {0}, answer = {0};
	uint64_t kind;
	int rc = ask(js->nats, "STREAM.INFO", js->stream, &none, &answer, &kind, err);

	if (rc == 0 && !dt_js_read_info(&answer, out))
		rc = dt_err(err, EDT_COMPILER, "JetStream: its answer is not understood");
	dt_buf_free(&answer);
	return rc ? -1 : 0;
}

/* The first line says where the others belong. */
static bool split(const dt_buf *message, struct dt_js_message *out)
{
	const char *end = message->n ? memchr(message->s, '\n', message->n) : NULL, *format;
	size_t n = end ? (size_t)(end + 1 - message->s) : 0, len;

	if (!end || !dt_json_number(message->s, n, "at", &out->at))
		return false;
	format = dt_json_member(message->s, n, "format", &len);
	out->is_text = format && len == 6 && memcmp(format, "\"text\"", 6) == 0;
	dt_buf_add(&out->lines, message->s + n, message->n - n);
	return true;
}

bool dt_js_read_message(const dt_buf *answer, struct dt_js_message *out)
{
	size_t n, len;
	const char *m = dt_json_member(answer->s, answer->n, "message", &n), *data = m ? dt_json_member(m, n, "data", &len) : NULL;
	dt_buf message = {0};
	bool ok = data && len >= 2 && dt_base64_decode(data + 1, len - 2, &message) && split(&message, out);

	dt_buf_free(&message);
	return ok;
}

int dt_js_get(const dt_js *js, uint64_t number, struct dt_js_message *out, dt_error *err)
{
	dt_buf b = {0}, answer = {0};
	uint64_t kind;
	int rc;

	dt_buf_printf(&b, "{\"seq\":%llu}", (unsigned long long)number);
	rc = ask(js->nats, "STREAM.MSG.GET", js->stream, &b, &answer, &kind, err);
	if (rc == NOT_FOUND) {
		rc = 0;
	} else if (rc == 0) {
		rc = 1;
		if (!dt_js_read_message(&answer, out))
			rc = dt_err(err, EDT_COMPILER, "JetStream: message %llu of %s is not output of a session",
				    (unsigned long long)number, js->stream);
	} else {
		rc = -1;
	}
	dt_buf_free(&b);
	dt_buf_free(&answer);
	return rc;
}

int dt_js_put(const dt_js *js, uint64_t last, const struct dt_js_message *m, dt_error *err)
{
	char number[24];
	dt_buf b = {0}, answer = {0};
	struct dt_nats_asked q = {.subject = js->subject,
				     .header = "Nats-Expected-Last-Sequence",
				     .value = number,
				     .ms = ANSWER_MS};
	uint64_t kind;
	int rc;

	snprintf(number, sizeof(number), "%llu", (unsigned long long)last);
	dt_buf_printf(&b, "{\"type\":\"at\",\"at\":%llu,\"format\":\"%s\"}\n", (unsigned long long)m->at,
		      m->is_text ? "text" : "ndjson");
	dt_buf_add(&b, m->lines.s, m->lines.n);
	q.data = b.s;
	q.len = b.n;
	rc = dt_nats_question(js->nats, &q, &answer, err);
	if (rc == 0)
		rc = refusal(&answer, &kind, err) == 0 ? 1 : kind == WRONG_LAST ? 0 : -1;
	dt_buf_free(&b);
	dt_buf_free(&answer);
	return rc;
}

/* ---- which there are ---- */

/* The words of our subjects have nothing else. Whoever may make streams can call them as he likes. */
static bool is_word(const char *s)
{
	char word[DT_NATS_WORD + 1];

	dt_nats_word(word, s);
	return strcmp(word, s) == 0;
}

/* "dtrace.log.MACHINE.SESSION" of the stream's description. */
static void report(dt_nats *n, const char *subject, size_t len, dt_js_f *f, void *arg)
{
	char text[DT_JS_NAME], *machine, *session;

	if (len < 2 || len - 2 >= sizeof(text))
		return;
	snprintf(text, sizeof(text), "%.*s", (int)(len - 2), subject + 1);
	machine = strncmp(text, "dtrace.log.", 11) == 0 ? text + 11 : NULL;
	session = machine ? strchr(machine, '.') : NULL;
	if (!session)
		return;
	*session++ = 0;
	if (is_word(machine) && is_word(session))
		f(arg, n, machine, session);
}

/* Each member of an array of objects. */
static const char *next_element(const char *p, const char *end, size_t *n)
{
	int depth = 0;
	const char *begin = NULL;

	for (; p < end; p++) {
		if (*p == '"') {
			for (p++; p < end && *p != '"'; p++)
				p += *p == '\\';
		} else if (*p == '{' && depth++ == 0) {
			begin = p;
		} else if (*p == '}' && --depth == 0) {
			*n = (size_t)(p + 1 - begin);
			return begin;
		}
	}
	return NULL;
}

uint64_t dt_js_read_list(const dt_buf *answer, dt_nats *n, dt_js_f *f, void *arg, uint64_t *total)
{
	size_t len, k = 0;
	const char *all = dt_json_member(answer->s, answer->n, "streams", &len);
	uint64_t some = 0;

	if (!all || !dt_json_number(answer->s, answer->n, "total", total))
		return 0;
	for (const char *p = all; (p = next_element(p, all + len, &k)); p += k, some++) {
		size_t cn, sn;
		const char *config = dt_json_member(p, k, "config", &cn);
		const char *subjects = config ? dt_json_member(config, cn, "subjects", &sn) : NULL;

		if (subjects && sn > 4) /* ["dtrace.log..."] */
			report(n, subjects + 1, sn - 2, f, arg);
	}
	return some;
}

int dt_js_list(dt_nats *n, const char *session, dt_js_f *f, void *arg, dt_error *err)
{
	uint64_t offset = 0, kind, total = 0, some;
	dt_buf b = {0}, answer = {0};
	int rc;

	do {
		dt_buf_reset(&b);
		dt_buf_reset(&answer);
		dt_buf_printf(&b, "{\"offset\":%llu,\"subject\":\"dtrace.log.*.%s\"}", (unsigned long long)offset,
			      session ? session : "*");
		rc = ask(n, "STREAM.LIST", NULL, &b, &answer, &kind, err);
		some = rc == 0 ? dt_js_read_list(&answer, n, f, arg, &total) : 0;
		offset += some;
	} while (some && offset < total && offset < DT_MAX_STREAMS);
	dt_buf_free(&b);
	dt_buf_free(&answer);
	return rc ? -1 : 0;
}

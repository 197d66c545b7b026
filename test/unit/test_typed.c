/* The typed API, as a user of libdtrace sees it: only include/dtrace.h. */
#include <poll.h>
#include <stdlib.h>

#include "dtrace.h"
#include "unit.h"

struct seen {
	unsigned records, rows, faults, notes;
	int abort_at; /* that record */
	const char *want;
	char text[2048];
};

static dtrace_hdl_t *open_vm(void)
{
	dtrace_hdl_t *h = dtrace_open(NULL);

	CHECK(h && dtrace_setopt(h, "engine", "vm") == 0);
	return h;
}

static void prepare(dtrace_hdl_t *h, const char *text, struct dtrace_consumer *c)
{
	dtrace_prog_t *p = dtrace_compile_string(h, text, NULL);

	if (!p)
		printf("%s: %s\n", text, dtrace_errtext(h));
	CHECK(p && dtrace_enable(h, p, NULL) == 0);
	CHECK(!c || dtrace_consume(h, c) == 0);
	CHECK(dtrace_go(h) == 0);
}

static int finish(dtrace_hdl_t *h)
{
	enum dtrace_work_status st;

	while ((st = dtrace_work(h, NULL)) == DTRACE_WORK_OKAY)
		dtrace_sleep(h);
	if (st == DTRACE_WORK_ERROR || dtrace_stop(h) < 0 ||
	    dtrace_work(h, NULL) == DTRACE_WORK_ERROR)
		return -1;
	return dtrace_aggregate_print(h, NULL);
}

static int count_record(const dtrace_record_t *r, void *arg)
{
	struct seen *s = arg;

	CHECK(dtrace_record_item(r, dtrace_record_info(r)->nitems) == NULL);
	CHECK(dtrace_record_value(r, 1000, 0) == NULL);
	return (int)++s->records == s->abort_at ? -1 : 0;
}

static int count_row(const dtrace_row_t *r, void *arg)
{
	struct seen *s = arg;

	CHECK(dtrace_row_key(r, dtrace_row_info(r)->nkeys) == NULL);
	CHECK(dtrace_row_info(r)->place == s->rows % 2 && dtrace_row_info(r)->nplaces == 2);
	CHECK_STR(dtrace_row_info(r)->text ? dtrace_row_info(r)->text : "-", s->rows++ < 2 ? "row\n" : "-");
	return 0;
}

static int count_fault(const struct dtrace_fault *f, void *arg)
{
	struct seen *s = arg;

	CHECK(f->probe.id == 1 && f->clause == 1 && f->action == 1 && f->code == 4);
	CHECK_STR(f->what, "divide-by-zero");
	CHECK_STR(f->expression, "1 / (pid - pid)");
	CHECK_STR(f->reason, "division by zero");
	CHECK(!f->file && !f->line);
	s->faults++;
	return 0;
}

/* A function that does not return 0 ends the work. */
static void test_abort(void)
{
	struct seen s = {.abort_at = 2};
	struct dtrace_consumer c = {.size = sizeof(c), .arg = &s, .record = count_record};
	dtrace_hdl_t *h = open_vm();

	prepare(h, "BEGIN { trace(1); } BEGIN { trace(2); } BEGIN { trace(3); exit(0); }", &c);
	CHECK(finish(h) == -1);
	CHECK(s.records == 2);
	CHECK_STR(dtrace_errtext(h), "Stopped by a handler");
	dtrace_close(h);
}

static void test_counts(void)
{
	struct seen s = {0};
	struct dtrace_consumer c = {.size = sizeof(c),
				    .arg = &s,
				    .record = count_record,
				    .aggregation = count_row,
				    .fault = count_fault};
	dtrace_hdl_t *h = open_vm();

	/* a clause that shows nothing is no record; one without actions is */
	prepare(h,
		"BEGIN { trace(1 / (pid - pid)); } BEGIN { @a[1] = count(); @a[2] = count(); } BEGIN "
		"{ trace(1); printa(\"row\\n\", @a); exit(0); } END",
		&c);
	CHECK(finish(h) == 0);
	CHECK(s.records == 2 && s.rows == 2 && s.faults == 1);
	CHECK(dtrace_aggregate_walk(h, count_row, &s) == 0);
	CHECK(s.rows == 4);
	dtrace_close(h);
}

static int show_value(const dtrace_record_t *r, void *arg)
{
	struct seen *s = arg;
	const dtrace_value_t *v = dtrace_record_value(r, 0, 0);
	const struct dtrace_valueinfo *i = dtrace_value_info(v);

	snprintf(s->text + strlen(s->text), sizeof(s->text) - strlen(s->text), "%d %s %s %zu %lld%s;",
		 (int)i->kind, i->name ? i->name : "-", dtrace_value_type(v), i->size,
		 (long long)i->u, i->is_signed ? "" : "u");
	return 0;
}

static void test_values(void)
{
	struct seen s = {0};
	struct dtrace_consumer c = {.size = sizeof(c), .arg = &s, .record = show_value};
	dtrace_hdl_t *h = open_vm();

	prepare(h,
		"self short x; BEGIN { trace((char)-1); } BEGIN { trace((uint64_t)-1); } BEGIN { "
		"self->x = -2; trace(self->x); } BEGIN { trace((int *)16); } BEGIN { trace(\"ab\"); "
		"exit(0); }",
		&c);
	CHECK(finish(h) == 0);
	CHECK_STR(s.text, "1 - char 1 -1;1 - uint64_t 8 -1u;1 x short 2 -2;1 - int * 8 16u;3 - string 2 "
			  "0u;");
	dtrace_close(h);
}

/* An older program has a shorter struct. */
static void test_size(void)
{
	struct seen s = {0};
	struct dtrace_consumer c = {.arg = &s, .record = count_record, .aggregation = count_row};
	dtrace_hdl_t *h = open_vm();

	CHECK(dtrace_consume(h, &c) == -1);
	c.size = offsetof(struct dtrace_consumer, aggregation);
	prepare(h, "BEGIN { trace(1); @ = count(); exit(0); }", &c);
	CHECK(dtrace_work(h, NULL) != DTRACE_WORK_ERROR);
	CHECK(dtrace_consume(h, &c) == -1); /* too late */
	CHECK(finish(h) == 0);
	CHECK(s.records == 1 && s.rows == 0);
	dtrace_close(h);
}

static void test_fd(void)
{
	struct seen s = {0};
	struct dtrace_consumer c = {.size = sizeof(c), .arg = &s, .record = count_record};
	dtrace_hdl_t *h = open_vm();
	struct pollfd p = {.events = POLLIN};

	CHECK(dtrace_fd(h) == -1);
	prepare(h, "BEGIN { trace(1); exit(0); }", &c);
	p.fd = dtrace_fd(h);
	CHECK(p.fd >= 0 && p.fd == dtrace_fd(h));
	CHECK(poll(&p, 1, 60000) == 1);
	CHECK(dtrace_work(h, NULL) == DTRACE_WORK_DONE);
	CHECK(finish(h) == 0 && s.records == 1);
	dtrace_close(h);
}

static int gather(const void *data, size_t n, void *arg)
{
	struct seen *s = arg;
	size_t at = strlen(s->text);

	CHECK(at + n < sizeof(s->text));
	memcpy(s->text + at, data, n);
	s->text[at + n] = 0;
	return s->abort_at;
}

static void test_output(void)
{
	struct seen s = {0};
	dtrace_hdl_t *h = open_vm();

	CHECK(dtrace_setopt(h, "quiet", NULL) == 0);
	prepare(h, "BEGIN { printf(\"hello\\n\"); @ = count(); exit(0); }", NULL);
	CHECK(dtrace_work(h, NULL) == DTRACE_WORK_ERROR); /* where to? */
	dtrace_handle_output(h, gather, &s);
	CHECK(finish(h) == 0);
	CHECK_STR(s.text, "hello\n\n                1\n");
	dtrace_close(h);

	h = open_vm();
	s = (struct seen){.abort_at = 28};
	dtrace_handle_output(h, gather, &s);
	prepare(h, "BEGIN { trace(1); exit(0); }", NULL);
	CHECK(finish(h) == -1 && dtrace_errno(h) == 28); /* ENOSPC, say */
	dtrace_close(h);
}

/* Everything a second time, as ndjson; and aggregations as a document at any time. */
static void test_events(void)
{
	struct seen text = {0}, events = {0}, typed = {0};
	struct dtrace_consumer c = {.size = sizeof(c), .arg = &typed, .record = count_record};
	dtrace_hdl_t *h = open_vm();
	char *document = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&document, &n);

	CHECK(dtrace_setopt(h, "quiet", NULL) == 0);
	CHECK(dtrace_aggregate_write(h, "prometheus", out) == -1); /* too early */
	dtrace_handle_output(h, gather, &text);
	dtrace_handle_events(h, gather, &events);
	prepare(h, "BEGIN { printf(\"hello\\n\"); @a[\"x;y\"] = count(); printa(@a); @b[1] = sum(2); } END { trace(3); }", NULL);
	CHECK(dtrace_work(h, NULL) == DTRACE_WORK_OKAY);
	CHECK(dtrace_aggregate_write(h, "prometheus", out) == 0 && dtrace_aggregate_write(h, "folded", out) == 0);
	CHECK(dtrace_aggregate_write(h, "nosuch", out) == -1);
	CHECK_STR(dtrace_errtext(h), "unknown output format \"nosuch\"");
	CHECK(fclose(out) == 0);
	CHECK_STR(document, "# HELP dtrace_a_total count() of @a\n# TYPE dtrace_a_total counter\ndtrace_a_total{key1=\"x;y\"} 1\n"
			    "# HELP dtrace_b_total sum() of @b\n# TYPE dtrace_b_total counter\ndtrace_b_total{key1=\"1\"} 2\n"
			    "@a;x:y 1\n@b;1 2\n");
	free(document);
	CHECK(dtrace_stop(h) == 0 && finish(h) == 0);
	CHECK_STR(text.text, "hello\n\n  x;y                                                               1\n3\n        1                2\n");
	CHECK(strncmp(events.text, "{\"type\":\"start\"", 15) == 0 && strstr(events.text, "\"text\":\"hello\\n\""));
	CHECK(strstr(events.text, "\"at\":\"exit\",\"name\":\"b\"") && strstr(events.text, "{\"type\":\"end\""));
	dtrace_close(h);

	h = open_vm(); /* beside typed values; an error of that function ends the work */
	events = (struct seen){.abort_at = 28};
	dtrace_handle_events(h, gather, &events);
	prepare(h, "BEGIN { trace(1); exit(0); }", &c);
	CHECK(finish(h) == -1 && dtrace_errno(h) == 28 && typed.records == 1);
	dtrace_close(h);
}

int main(void)
{
	CHECK(dtrace_api_version() == DTRACE_API_VERSION);
	test_abort();
	test_counts();
	test_values();
	test_size();
	test_fd();
	test_output();
	test_events();
	return unit_done();
}

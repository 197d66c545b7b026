/* The public API as a user of libdtrace sees it: only include/dtrace.h. */
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dtrace.h"
#include "unit.h"

/* Compile and run a program on the vm engine; what it printed is in buf. */
static int run(dtrace_hdl_t *h, const char *text, char *buf, size_t n)
{
	dtrace_prog_t *p = dtrace_compile_string(h, text, NULL);
	struct dtrace_proginfo info;
	FILE *out = fmemopen(buf, n, "w");

	CHECK(p != NULL);
	if (!p)
		printf("%s: %s\n", text, dtrace_errtext(h));
	CHECK(p && dtrace_enable(h, p, &info) == 0);
	CHECK(dtrace_go(h) == 0);
	while (dtrace_work(h, out) == DTRACE_WORK_OKAY)
		dtrace_sleep(h);
	CHECK(dtrace_stop(h) == 0);
	CHECK(dtrace_work(h, out) == DTRACE_WORK_DONE);
	CHECK(dtrace_aggregate_print(h, out) == 0);
	fclose(out);
	return dtrace_exit_status(h);
}

static dtrace_hdl_t *open_quiet(void)
{
	dtrace_hdl_t *h = dtrace_open(NULL);

	CHECK(h != NULL);
	CHECK(dtrace_setopt(h, "engine", "vm") == 0);
	CHECK(dtrace_setopt(h, "quiet", NULL) == 0);
	return h;
}

static void test_run(void)
{
	dtrace_hdl_t *h = open_quiet();
	char buf[256] = "";

	CHECK(run(h, "BEGIN { printf(\"%d\", 6 * 7); exit(3); }", buf, sizeof(buf)) == 3);
	CHECK_STR(buf, "42\n");
	dtrace_close(h);
}

/* Two handles at once share nothing. */
static void test_two_handles(void)
{
	dtrace_hdl_t *a = open_quiet(), *b = open_quiet();
	char one[64] = "", two[64] = "";

	CHECK(dtrace_setopt(a, "strsize", "8") == 0);
	CHECK(dtrace_compile_string(a, "int x; BEGIN { x = 1; }", NULL) != NULL);
	CHECK(run(b, "string x; BEGIN { x = \"0123456789\"; trace(x); exit(0); }", two,
		  sizeof(two)) == 0);
	CHECK_STR(two, "0123456789\n");
	CHECK(run(a, "BEGIN { x += 1; trace(x); exit(0); }", one, sizeof(one)) == 0);
	CHECK_STR(one, "1\n");
	dtrace_close(b);
	dtrace_close(a);
}

static void test_errors(void)
{
	dtrace_hdl_t *h = open_quiet();
	struct dtrace_errpos pos;
	FILE *f;

	CHECK(dtrace_compile_string(h, "BEGIN { trace(nosuch); }", NULL) == NULL);
	CHECK_STR(dtrace_errtag(h), "D_IDENT_UNDEF");
	CHECK(strncmp(dtrace_errtext(h), "in action list: ", 16) == 0);
	CHECK(dtrace_errno(h) >= 1000);
	dtrace_errwhere(h, &pos);
	CHECK(pos.line == 1 && pos.file == NULL);
	CHECK_STR(pos.source, "BEGIN { trace(nosuch); }");

	CHECK(dtrace_compile_string(h, "BEGIN /nosuch/ { }", NULL) == NULL);
	CHECK(strncmp(dtrace_errtext(h), "in predicate: ", 14) == 0);

	CHECK(dtrace_setopt(h, "errtags", NULL) == 0);
	f = fmemopen((void *)"BEGIN\n{\n\ttrace(1;\n}\n", 19, "r");
	CHECK(dtrace_compile_file(h, f, NULL) == NULL);
	fclose(f);
	CHECK(strncmp(dtrace_errtext(h), "[D_SYNTAX] line 3: ", 19) == 0);

	CHECK(dtrace_setopt(h, "nosuchoption", NULL) == -1);
	CHECK(dtrace_setopt(h, "bufsize", "pink") == -1);
	CHECK(dtrace_errtag(h) == NULL);
	/* a failed compile leaves the handle usable */
	CHECK(dtrace_compile_string(h, "BEGIN { exit(0); }", NULL) != NULL);
	dtrace_close(h);
}

static void test_dof(void)
{
	dtrace_hdl_t *h = open_quiet(), *g = open_quiet();
	dtrace_prog_t *p, *q;
	char buf[64] = "", *text = NULL;
	void *data = NULL;
	size_t n = 0, m;
	FILE *out;

	p = dtrace_compile_string(h, "BEGIN { trace(7); exit(4); }", NULL);
	CHECK(p && dtrace_dof_create(h, p, &data, &n) == 0 && n > 64);
	CHECK(data && memcmp(data, "\177DOF", 4) == 0);
	q = dtrace_dof_load(g, data, n);
	CHECK(q != NULL);
	out = open_memstream(&text, &m);
	CHECK(dtrace_dof_dump(g, data, n, out) == 0);
	fclose(out);
	CHECK(m > 100);
	free(text);
	for (size_t i = 0; i < n; i += 7) /* no prefix of it is a program */
		CHECK(dtrace_dof_load(g, data, i) == NULL);
	out = fmemopen(buf, sizeof(buf), "w");
	CHECK(q && dtrace_enable(g, q, NULL) == 0 && dtrace_go(g) == 0);
	dtrace_work(g, out);
	dtrace_stop(g);
	dtrace_work(g, out);
	fclose(out);
	CHECK_STR(buf, "7");
	CHECK(dtrace_exit_status(g) == 4);
	free(data);
	dtrace_close(g);
	dtrace_close(h);
}

/* Formats, aggregations and options are stored with a program; its aggregations are separate from
 * others. */
static void test_dof_aggregations(void)
{
	dtrace_hdl_t *h = open_quiet(), *g = open_quiet();
	dtrace_prog_t *p, *q;
	char buf[256] = "";
	void *data = NULL;
	size_t n = 0;
	FILE *out = fmemopen(buf, sizeof(buf), "w");

	p = dtrace_compile_string(
	    h,
	    "int g; BEGIN { g = 6; g++; self->t = g; this->l = 1; trace(self->t + this->l);"
	    " @first = count(); @x[\"key\", 3] = sum(40);"
	    " @x[\"key\", 3] = sum(2); printf(\"<%s %d>\\n\", \"a\", 5);"
	    " printa(\"%s %d %@d\\n\", @x); exit(0); }",
	    NULL);
	CHECK(p && dtrace_dof_create(h, p, &data, &n) == 0);
	CHECK(dtrace_compile_string(g, "BEGIN { @own = max(1); }", NULL) != NULL);
	q = dtrace_dof_load(g, data, n);
	CHECK(q && dtrace_enable(g, q, NULL) == 0 && dtrace_go(g) == 0);
	dtrace_work(g, out);
	dtrace_stop(g);
	dtrace_work(g, out);
	fclose(out);
	CHECK_STR(buf, "8<a 5>\nkey 3 42\n");
	free(data);
	dtrace_close(g);
	dtrace_close(h);
}

static void test_dump(void)
{
	dtrace_hdl_t *h = open_quiet();
	dtrace_prog_t *p = dtrace_compile_string(h, "BEGIN /pid != 0/ { trace(1); }", NULL);
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	CHECK(p != NULL);
	if (p) {
		dtrace_dump(p, out);
		dtrace_stability(p, out);
	}
	fclose(out);
	CHECK(strstr(text, "DIFO 0x") && strstr(text, "OPCODE") && strstr(text, "ldgs"));
	CHECK(strstr(text, "Stability attributes for description BEGIN") != NULL);
	CHECK(strstr(text, "Minimum Statement Attributes") != NULL);
	free(text);
	dtrace_close(h);
}

static int count_probe(dtrace_hdl_t *h, const struct dtrace_probeinfo *p, void *arg)
{
	(void)h;
	CHECK(p->id != 0 && p->provider[0]);
	++*(int *)arg;
	return 0;
}

static void test_probes(void)
{
	dtrace_hdl_t *h = open_quiet();
	int n = 0;

	CHECK(dtrace_probe_iter(h, "dtrace:::", DTRACE_SPEC_NAME, count_probe, &n) == 0);
	CHECK(n == 3);
	n = 0;
	CHECK(dtrace_probe_iter(h, "1", DTRACE_SPEC_NAME, count_probe, &n) == 0);
	CHECK(n == 1);
	CHECK(dtrace_probe_iter(h, "dtrace", DTRACE_SPEC_PROVIDER, count_probe, &n) == 0);
	CHECK(n == 4);
	CHECK(dtrace_probe_iter(h, "a:b:c:d:e", DTRACE_SPEC_NAME, count_probe, &n) == -1);
	CHECK(dtrace_probe_iter(h, "nosuch:::", DTRACE_SPEC_NAME, count_probe, &n) == -1);
	CHECK(dtrace_probe_report(h, 1, stdout) == 0);
	CHECK(dtrace_probe_report(h, 4000000000u, stdout) == -1);
	dtrace_close(h);
}

/* What may be done only before, or only after, tracing starts. */
static void test_order(void)
{
	dtrace_hdl_t *h = open_quiet();
	char buf[64] = "";
	uint64_t v;

	CHECK(dtrace_work(h, stdout) == DTRACE_WORK_ERROR);
	CHECK(run(h, "BEGIN { exit(0); }", buf, sizeof(buf)) == 0);
	CHECK(dtrace_go(h) == -1);
	CHECK(dtrace_compile_string(h, "BEGIN { exit(0); }", NULL) == NULL);
	CHECK(dtrace_setopt(h, "bufsize", "1m") == -1);
	CHECK(dtrace_setopt(h, "aggsortrev", NULL) == 0);
	CHECK(dtrace_getopt(h, "quiet", &v) == 0 && v == 1);
	CHECK(dtrace_getopt(h, "nosuch", &v) == -1);
	dtrace_close(h);
}

static void test_target(void)
{
	dtrace_hdl_t *h = open_quiet();
	char *const good[] = {(char *)"true", NULL}, *const bad[] = {(char *)"/no/such/file", NULL};
	char buf[64] = "", want[64];
	long pid;

	CHECK(dtrace_proc_create(h, bad) == -1);
	CHECK(dtrace_proc_grab(h, 0x7ffffff0) == -1);
	pid = dtrace_proc_create(h, good);
	CHECK(pid > 0);
	snprintf(want, sizeof(want), "%ld\n", pid);
	/* no exit(): tracing ends with the process */
	CHECK(run(h, "BEGIN { trace($target); }", buf, sizeof(buf)) == 0);
	CHECK_STR(buf, want);
	dtrace_close(h);
}

static int swallow(dtrace_hdl_t *h, enum dtrace_diag_kind kind, const char *text, void *arg)
{
	(void)h;
	CHECK(kind == DTRACE_DIAG_FAULT || kind == DTRACE_DIAG_NOTE);
	snprintf((char *)arg + strlen(arg), 256 - strlen(arg), "%s\n", text);
	return 0;
}

static void test_diag(void)
{
	dtrace_hdl_t *h = open_quiet();
	char buf[64] = "", diag[256] = "";

	dtrace_handle_diag(h, swallow, diag);
	run(h, "BEGIN { trace(1 / (pid - pid)); } BEGIN { exit(0); }", buf, sizeof(buf));
	CHECK(strstr(diag, "divide-by-zero in action #1") != NULL);
	CHECK(strstr(diag, "\n1 / (pid - pid): division by zero\n") != NULL);
	dtrace_close(h);
}

/* Use up all but a few descriptors, or close them again. */
static void take_descriptors(int but)
{
	static int taken[256], n;

	while (n < 256 && (taken[n] = dup(0)) >= 0)
		n++;
	while (but > 0 && n > 0) {
		close(taken[--n]);
		but--;
	}
}

/* A session that could not be started can be, once the reason is gone. */
static void test_again(void)
{
	char *const argv[] = {(char *)"sleep", (char *)"0.1", NULL};
	struct rlimit few = {.rlim_cur = 200, .rlim_max = 200};
	dtrace_hdl_t *h;
	dtrace_prog_t *p;
	FILE *out;

	if (geteuid() != 0 || setrlimit(RLIMIT_NOFILE, &few) < 0)
		return;
	h = dtrace_open(NULL);
	out = tmpfile();
	CHECK(dtrace_setopt(h, "engine", "bpf") == 0 && dtrace_setopt(h, "quiet", NULL) == 0);
	if (dtrace_proc_create(h, argv) > 0 &&
	    (p = dtrace_compile_string(h, "pid$target::exit:entry { trace(1); }", NULL))) {
		CHECK(dtrace_enable(h, p, NULL) == 0);
		take_descriptors(12);
		CHECK(dtrace_go(h) == -1);
		CHECK(dtrace_go(h) == -1);
		take_descriptors(256);
		if (dtrace_go(h) == 0) { /* else there is no BPF here */
			while (dtrace_work(h, out) == DTRACE_WORK_OKAY)
				dtrace_sleep(h);
			CHECK(dtrace_go(h) == -1 && dtrace_stop(h) == 0);
			dtrace_work(h, out);
			CHECK(ftell(out) == 1);
		}
	}
	dtrace_close(h);
	fclose(out);
}

int main(void)
{
	CHECK_STR(dtrace_version(), "1.14");
	CHECK_STR(dtrace_option_name(0), "aggpercpu");
	for (int i = 0; dtrace_option_name(i); i++)
		CHECK(dtrace_option_help(i) && *dtrace_option_help(i));
	CHECK(dtrace_option_help(-1) == NULL && dtrace_option_help(10000) == NULL);
	CHECK(dtrace_option_name(-1) == NULL && dtrace_option_name(10000) == NULL);
	test_run();
	test_two_handles();
	test_errors();
	test_dof();
	test_dof_aggregations();
	test_dump();
	test_probes();
	test_order();
	test_target();
	test_diag();
	test_again();
	dtrace_close(NULL);
	return unit_done();
}

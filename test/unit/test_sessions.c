/*
 * The store of durable sessions: whole lines, bounds, places; and JSON of others.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fleet/session_store.h"
#include "format/formats.h"
#include "unit.h"

static void head(void *arg, uint64_t at, dt_buf *out)
{
	(void)arg;
	dt_buf_printf(out, "head %llu\n", (unsigned long long)at);
}

static dt_store *open_store(const char *dir, uint64_t files)
{
	struct dt_store_env env = {.dir = dir, .size = DT_STORE_LEAST, .files = files, .head = head};
	dt_error err = {0};

	return dt_store_open(&env, &err);
}

/* All that is there: the numbers of lines "line N", in order without gaps from `first`; returns the next one. */
static int read_all(dt_store_reader *r, int first, uint64_t *missed)
{
	uint64_t at, some;
	dt_buf b = {0};

	*missed = 0;
	while (dt_store_reader_next(r, 100, &b, &at, &some)) {
		char *save = NULL;

		*missed += some;
		CHECK(b.s[b.n - 1] == '\n');
		for (char *line = strtok_r(b.s, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
			if (strncmp(line, "line ", 5) != 0)
				continue;
			CHECK(atoi(line + 5) == first || some);
			first = atoi(line + 5) + 1;
			some = 0;
		}
		dt_buf_reset(&b);
	}
	dt_buf_free(&b);
	return first;
}

static void add(dt_store *s, int from, int to)
{
	for (int i = from; i < to; i++) {
		char line[64];
		int n = snprintf(line, sizeof(line), "line %d\n", i);

		dt_store_add(s, line, (size_t)(i % n)); /* in pieces */
		dt_store_add(s, line + i % n, (size_t)(n - i % n));
	}
}

static void test_store(const char *dir)
{
	dt_store *s = open_store(dir, 4);
	dt_store_reader *all, *late;
	struct dt_store_counts c;
	uint64_t missed;
	char *path;
	int fd;

	CHECK(s != NULL);
	all = dt_store_reader_new(dir, 0);
	add(s, 0, 1000);
	CHECK(read_all(all, 0, &missed) == 1000 && missed == 0);
	late = dt_store_reader_new(dir, DT_STORE_NOW);
	CHECK(read_all(late, 1000, &missed) == 1000);
	add(s, 1000, 1100);
	CHECK(read_all(late, 1000, &missed) == 1100 && missed == 0);
	add(s, 1100, 5000); /* more than four files: `all` has missed some, and knows how much */
	c = dt_store_counts(s);
	CHECK(c.first > 0 && c.end > c.first && c.lines == 0 && c.end - c.first <= 4 * DT_STORE_LEAST);
	CHECK(read_all(all, 1000, &missed) == 5000 && missed > 0);
	dt_store_add(s, "half a line", 11);
	dt_store_close(s); /* it is ended */
	/* a process that was killed */
	path = dt_xasprintf("%s/current.ndjson", dir);
	fd = open(path, O_WRONLY | O_APPEND);
	CHECK(fd >= 0 && write(fd, "line 99", 7) == 7);
	close(fd);
	CHECK(read_all(all, 5000, &missed) == 5000 && missed == 0);
	s = open_store(dir, 4);
	CHECK(s && dt_store_counts(s).cut == 7);
	add(s, 5000, 5010);
	CHECK(read_all(all, 5000, &missed) == 5010 && missed == 0);
	CHECK(read_all(late, 1100, &missed) == 5010 && missed > 0);
	dt_store_close(s);
	dt_store_reader_free(all);
	dt_store_reader_free(late);
	free(path);
}

/* A line that no file can hold is lost, and that is told. */
static void test_long_line(const char *dir)
{
	dt_store *s = open_store(dir, 2);
	dt_store_reader *r = dt_store_reader_new(dir, DT_STORE_NOW);
	char *line = dt_xmalloc(2 * DT_STORE_LEAST);
	uint64_t at, missed;
	dt_buf b = {0};

	memset(line, 'x', 2 * DT_STORE_LEAST);
	line[2 * DT_STORE_LEAST - 1] = '\n';
	dt_store_add(s, line, 2 * DT_STORE_LEAST);
	dt_store_add(s, "line 1\n", 7);
	CHECK(dt_store_counts(s).lines == 1 && dt_store_counts(s).bytes == 2 * DT_STORE_LEAST);
	while (dt_store_reader_next(r, 100000, &b, &at, &missed))
		;
	CHECK(b.s && strstr(b.s, "1 lines (8192 bytes) of output could not be written: longer than a file may be"));
	CHECK(b.s && strstr(b.s, "line 1\n"));
	dt_store_close(s);
	dt_store_reader_free(r);
	dt_buf_free(&b);
	free(line);
}

static void test_state(const char *dir)
{
	struct dt_store_state st = {.state = "waiting", .why = "two\nlines", .format = "text"}, back;

	st.n[DT_KEPT_DROPS] = 42;
	CHECK(dt_store_state_write(dir, &st) == 0 && dt_store_sent_write(dir, 7, 8) == 0);
	CHECK(dt_store_state_read(dir, &back));
	CHECK_STR(back.state, "waiting");
	CHECK_STR(back.why, "two?lines");
	CHECK(back.n[DT_KEPT_DROPS] == 42 && back.n[DT_KEPT_SENT] == 7 && back.n[DT_KEPT_UNSENT] == 8);
	CHECK(!dt_store_state_read("/no/such", &back) && back.n[DT_KEPT_DROPS] == 0);
	CHECK(dt_store_is_name("a-B_9") && !dt_store_is_name("") && !dt_store_is_name("a/b") && !dt_store_is_name(".") &&
	      !dt_store_is_name("a.b"));
}

/* What is printed comes back as it was, whatever it is. */
static void test_text(void)
{
	static const char *const texts[] = {"plain\n", "\"quoted\" \\ \t \001 \xc3\xa4 \xf0\x9f\x98\x80", "\xff\xfe not UTF-8", "a\nb\nc\n"};

	for (size_t i = 0; i < DT_NELEM(texts); i++)
		for (size_t most = 1; most < 20; most += 6) {
			dt_buf lines = {0}, back = {0};
			char type[16], *save = NULL;

			dt_ndjson_text(&lines, texts[i], strlen(texts[i]), most);
			for (char *l = strtok_r(lines.s, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
				CHECK(dt_ndjson_read(l, strlen(l), type, &back) && strcmp(type, "text") == 0);
			CHECK_STR(back.s, texts[i]);
			dt_buf_free(&lines);
			dt_buf_free(&back);
		}
}

static void test_json(void)
{
	static const char *const broken[] = {"", "{", "{\"", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":\"", "{\"a\":[1,", "[1]", "{a:1}", "{\"b\":1"};
	static const char good[] = " {\"b\":{\"a\":1,\"x\":\"}\"}, \"c\":[\"]\",{}] ,\"a\" : 12,\"s\":\"\\u00e4\\ud83d\\ude00\\n\"}";
	dt_buf b = {0};
	uint64_t n = 0;
	size_t len;
	const char *s;

	for (size_t i = 0; i < DT_NELEM(broken); i++)
		CHECK(!dt_json_member(broken[i], strlen(broken[i]), "a", &len));
	CHECK(dt_json_number(good, sizeof(good) - 1, "a", &n) && n == 12);
	CHECK(!dt_json_number(good, sizeof(good) - 1, "s", &n));
	for (size_t i = 0; i < sizeof(good) - 1; i++) /* cut anywhere */
		dt_json_member(good, i, "s", &len);
	s = dt_json_member(good, sizeof(good) - 1, "s", &len);
	CHECK(s && dt_json_unquote(s, len, &b));
	CHECK_STR(b.s, "\xc3\xa4\xf0\x9f\x98\x80\n");
	CHECK(!dt_json_unquote("\"\\x\"", 4, &b) && !dt_json_unquote("\"\\u12\"", 6, &b) && !dt_json_unquote("\"\\\"", 3, &b) &&
	      !dt_json_unquote("\"", 1, &b) && !dt_json_unquote("", 0, &b));
	CHECK(!dt_base64_decode("YW-", 3, &b));
	dt_buf_reset(&b);
	CHECK(dt_base64_decode("YWJjZA==", 8, &b));
	CHECK_STR(b.s, "abcd");
	dt_buf_free(&b);
}

int main(void)
{
	char dir[] = "/tmp/test_sessions.XXXXXX", command[64];

	CHECK(mkdtemp(dir) != NULL);
	test_store(dir);
	test_long_line(dir);
	test_state(dir);
	test_text();
	test_json();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	CHECK(system(command) == 0);
	return unit_done();
}

/*
 * libFuzzer target: any bytes as what comes of durable sessions: lines of ndjson (format/formats.h), and answers of JetStream
 * (fleet/jetstream.h). What is found of a text lies in it. The first byte says which of them it is.
 */
#include <stdint.h>
#include <stdlib.h>

#include "fleet/jetstream.h"
#include "format/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void take_stream(void *arg, dt_nats *n, const char *machine, const char *session)
{
	size_t *sum = arg;

	(void)n;
	*sum += strlen(machine) + strlen(session);
	if (*sum > SIZE_MAX / 2)
		abort();
}

static void read_lines(const char *s, size_t n)
{
	dt_buf text = {0};
	char type[16];

	while (n) {
		const char *end = memchr(s, '\n', n);
		size_t len = end ? (size_t)(end + 1 - s) : n;

		if (dt_ndjson_read(s, len, type, &text) && strlen(type) >= sizeof(type))
			abort();
		s += len;
		n -= len;
	}
	dt_buf_free(&text);
}

/* A text, as lines of ndjson and back again. */
static void read_back(const char *s, size_t n)
{
	dt_buf lines = {0}, text = {0};
	char type[16];
	size_t at = 0;

	dt_ndjson_text(&lines, s, n, 1 + n / 3);
	while (at < lines.n) {
		size_t len = (size_t)((const char *)memchr(lines.s + at, '\n', lines.n - at) + 1 - (lines.s + at));

		if (!dt_ndjson_read(lines.s + at, len, type, &text) || strcmp(type, "text") != 0)
			abort();
		at += len;
	}
	if (text.n != n || (n && memcmp(text.s, s, n) != 0))
		abort();
	dt_buf_free(&lines);
	dt_buf_free(&text);
}

static void read_answer(const char *s, size_t n)
{
	struct dt_js_message m = {0};
	struct dt_js_info info;
	dt_buf answer = {0};
	uint64_t total;
	size_t sum = 0;

	dt_buf_add(&answer, s, n);
	dt_js_read_info(&answer, &info);
	dt_js_read_list(&answer, NULL, take_stream, &sum, &total);
	dt_js_read_message(&answer, &m);
	dt_buf_free(&m.lines);
	dt_buf_free(&answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *copy;

	if (n < 1)
		return 0;
	copy = malloc(n); /* of its own size: reading past it is found */
	if (n > 1)
		memcpy(copy, data + 1, n - 1);
	switch (data[0] % 3) {
	case 0: read_lines(copy, n - 1); break;
	case 1: read_back(copy, n - 1); break;
	default: read_answer(copy, n - 1); break;
	}
	free(copy);
	return 0;
}

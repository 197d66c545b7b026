/*
 * ndjson_lines: lines that are not of the ndjson writer: text that would have been printed, and notes, in the output of
 * durable sessions; and what a line has to say to a person, for those who read such output.
 */
#include "format/formats.h"
#include "format/json_text.h"

static void put_line(dt_buf *out, const char *type, const char *text, size_t n)
{
	dt_buf_printf(out, "{\"type\":\"%s\",\"text\":", type);
	dt_json_string(out, text, n);
	dt_buf_puts(out, "}\n");
}

void dt_ndjson_text(dt_buf *out, const char *text, size_t n, size_t most)
{
	while (n) {
		size_t some = n < most ? n : most;
		const char *end = some < n ? memrchr(text, '\n', some) : NULL;

		if (end)
			some = (size_t)(end + 1 - text);
		put_line(out, "text", text, some);
		text += some;
		n -= some;
	}
}

void dt_ndjson_note(dt_buf *out, const char *text)
{
	put_line(out, "note", text, strlen(text));
}

void dt_ndjson_drop(dt_buf *out, const char *text)
{
	put_line(out, "drop", text, strlen(text));
}

/* ---- reading ---- */

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* {"text": ..., "hex": ...}: bytes that are not UTF-8 */
static bool put_hex(const char *s, size_t n, dt_buf *out)
{
	const char *hex = dt_json_member(s, n, "hex", &n);

	if (!hex || n < 2 || n % 2)
		return false;
	for (size_t i = 1; i + 1 < n; i += 2) {
		int high = hex_digit(hex[i]), low = hex_digit(hex[i + 1]);

		if (high < 0 || low < 0)
			return false;
		dt_buf_putc(out, (char)(high << 4 | low));
	}
	return true;
}

bool dt_ndjson_read(const char *line, size_t n, char type[16], dt_buf *text)
{
	size_t len;
	const char *value = dt_json_member(line, n, "type", &len);

	if (!value || len < 2 || len - 2 >= 16)
		return false;
	memcpy(type, value + 1, len - 2);
	type[len - 2] = 0;
	value = dt_json_member(line, n, "text", &len);
	return !value || (*value == '{' ? put_hex(value, len, text) : dt_json_unquote(value, len, text));
}

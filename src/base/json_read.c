/*
 * json_read: members of JSON objects that others have written.
 *
 * Nothing is built: a member is found by skipping those before it, and its value is a part of the text. Skipping counts
 * brackets, so depth costs nothing.
 */
#include <ctype.h>
#include <stdlib.h>

#include "base/base.h"

typedef struct {
	const char *p, *end;
} place;

static void skip_blanks(place *at)
{
	while (at->p < at->end && isspace((unsigned char)*at->p))
		at->p++;
}

static bool skip_string(place *at)
{
	for (at->p++; at->p < at->end && *at->p != '"'; at->p++)
		if (*at->p == '\\' && ++at->p == at->end)
			return false;
	return at->p++ < at->end;
}

/* A value of any kind. */
static bool skip_value(place *at)
{
	const char *begin = at->p;
	int depth = 0;

	while (at->p < at->end) {
		char c = *at->p;

		if (c == '"') {
			if (!skip_string(at))
				return false;
			if (!depth)
				return true;
			continue;
		}
		if (!depth && strchr(",}] \t\r\n", c))
			break;
		at->p++;
		depth += (c == '{' || c == '[') - (c == '}' || c == ']');
		if (!depth && (c == '}' || c == ']'))
			return true;
	}
	return !depth && at->p > begin;
}

const char *dt_json_member(const char *s, size_t n, const char *key, size_t *len)
{
	place at = {s, s + n};

	skip_blanks(&at);
	if (at.p == at.end || *at.p++ != '{')
		return NULL;
	for (;;) {
		const char *name, *value;
		size_t named;

		skip_blanks(&at);
		name = at.p + 1;
		if (at.p == at.end || *at.p != '"' || !skip_string(&at))
			return NULL;
		named = (size_t)(at.p - 1 - name);
		skip_blanks(&at);
		if (at.p == at.end || *at.p++ != ':')
			return NULL;
		skip_blanks(&at);
		value = at.p;
		if (!skip_value(&at))
			return NULL;
		*len = (size_t)(at.p - value);
		if (named == strlen(key) && memcmp(name, key, named) == 0)
			return value;
		skip_blanks(&at);
		if (at.p == at.end || *at.p++ != ',')
			return NULL;
	}
}

bool dt_json_number(const char *s, size_t n, const char *key, uint64_t *out)
{
	const char *value = dt_json_member(s, n, key, &n);
	char digits[24];

	if (!value || !n || n >= sizeof(digits) || !isdigit((unsigned char)*value))
		return false;
	memcpy(digits, value, n);
	digits[n] = 0;
	*out = strtoull(digits, NULL, 10);
	return true;
}

/* ---- strings ---- */

static int hex_digits(const char *s, const char *end)
{
	int v = 0;

	if (end - s < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		if (!isxdigit((unsigned char)s[i]))
			return -1;
		v = v * 16 + (isdigit((unsigned char)s[i]) ? s[i] - '0' : tolower((unsigned char)s[i]) - 'a' + 10);
	}
	return v;
}

static void put_utf8(dt_buf *out, uint32_t c)
{
	if (c < 0x80) {
		dt_buf_putc(out, (char)c);
	} else if (c < 0x800) {
		dt_buf_putc(out, (char)(0xc0 | c >> 6));
		dt_buf_putc(out, (char)(0x80 | (c & 63)));
	} else if (c < 0x10000) {
		dt_buf_putc(out, (char)(0xe0 | c >> 12));
		dt_buf_putc(out, (char)(0x80 | (c >> 6 & 63)));
		dt_buf_putc(out, (char)(0x80 | (c & 63)));
	} else {
		dt_buf_putc(out, (char)(0xf0 | c >> 18));
		dt_buf_putc(out, (char)(0x80 | (c >> 12 & 63)));
		dt_buf_putc(out, (char)(0x80 | (c >> 6 & 63)));
		dt_buf_putc(out, (char)(0x80 | (c & 63)));
	}
}

/* After \u; two of them are one character beyond 16 bits. */
static const char *unquote_code(const char *s, const char *end, dt_buf *out)
{
	int high = hex_digits(s, end), low;

	if (high < 0)
		return NULL;
	s += 4;
	if (high >= 0xd800 && high < 0xdc00 && end - s >= 6 && s[0] == '\\' && s[1] == 'u' &&
	    (low = hex_digits(s + 2, end)) >= 0xdc00 && low < 0xe000) {
		put_utf8(out, 0x10000u + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00));
		return s + 6;
	}
	put_utf8(out, (uint32_t)high);
	return s;
}

bool dt_json_unquote(const char *s, size_t n, dt_buf *out)
{
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	const char *end = s + n - 1;

	if (n < 2 || *s != '"' || *end != '"')
		return false;
	for (s++; s < end;) {
		const char *known;

		if (*s != '\\') {
			dt_buf_putc(out, *s++);
			continue;
		}
		s++;
		if (s < end && *s == 'u') {
			s = unquote_code(s + 1, end, out);
			if (!s)
				return false;
			continue;
		}
		known = s < end && *s ? strchr(names, *s) : NULL;
		if (!known)
			return false;
		dt_buf_putc(out, values[known - names]);
		s++;
	}
	return true;
}

/* ---- base64, as in answers of JetStream ---- */

bool dt_base64_decode(const char *s, size_t n, dt_buf *out)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t bits = 0;
	int have = 0;

	while (n && s[n - 1] == '=')
		n--;
	for (size_t i = 0; i < n; i++) {
		const char *p = s[i] ? strchr(letters, s[i]) : NULL;

		if (!p)
			return false;
		bits = bits << 6 | (uint32_t)(p - letters);
		have += 6;
		if (have >= 8) {
			have -= 8;
			dt_buf_putc(out, (char)(bits >> have));
		}
	}
	return true;
}

/*
 * json_text: writes JSON.
 */
#include <math.h>
#include <stdio.h>

#include "format/json_text.h"

#define DEPTH_MAX 32 /* of structures in structures */

/* ---- numbers ---- */

void dt_json_uint(dt_buf *out, uint64_t n)
{
	char text[20], *p = text + sizeof(text);

	do
		*--p = (char)('0' + n % 10);
	while (n /= 10);
	dt_buf_add(out, p, (size_t)(text + sizeof(text) - p));
}

void dt_json_int(dt_buf *out, int64_t n)
{
	if (n < 0)
		dt_buf_putc(out, '-');
	dt_json_uint(out, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

static void put_double(dt_buf *out, long double d)
{
	char text[64];

	if (isnan(d) || isinf(d)) {
		dt_buf_puts(out, isnan(d) ? "\"nan\"" : d < 0 ? "\"-inf\"" : "\"inf\"");
		return;
	}
	snprintf(text, sizeof(text), "%.21Lg", d);
	for (char *p = text; *p; p++) /* whatever the locale says */
		if (*p == ',')
			*p = '.';
	dt_buf_puts(out, text);
}

/* ---- strings ---- */

static bool is_plain(uint8_t c)
{
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

static void put_escape(dt_buf *out, uint8_t c)
{
	static const char letters[] = "btn\0fr"; /* from \b on */
	char text[8];

	if (c == '"' || c == '\\')
		snprintf(text, sizeof(text), "\\%c", c);
	else if (c >= '\b' && c <= '\r' && letters[c - '\b'])
		snprintf(text, sizeof(text), "\\%c", letters[c - '\b']);
	else
		snprintf(text, sizeof(text), "\\u%04x", c);
	dt_buf_puts(out, text);
}

bool dt_json_name(dt_buf *out, const char *s, size_t n)
{
	const uint8_t *p = (const uint8_t *)s;
	bool valid = true;
	size_t i = 0;

	dt_buf_putc(out, '"');
	while (i < n) {
		size_t start = i, len;

		while (i < n && is_plain(p[i]))
			i++;
		if (i > start)
			dt_buf_add(out, s + start, i - start);
		if (i == n)
			break;
		if (p[i] < 0x80) {
			put_escape(out, p[i++]);
		} else if ((len = dt_utf8_length(s + i, n - i)) != 0) {
			dt_buf_add(out, s + i, len);
			i += len;
		} else {
			dt_buf_puts(out, "\\ufffd");
			valid = false;
			i++;
		}
	}
	dt_buf_putc(out, '"');
	return valid;
}

static void put_hex(dt_buf *out, const void *data, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *p = data;

	for (size_t i = 0; i < n; i++) {
		char two[2] = {digits[p[i] >> 4], digits[p[i] & 15]};

		dt_buf_add(out, two, 2);
	}
}

void dt_json_hex(dt_buf *out, const void *p, size_t n)
{
	dt_buf_puts(out, "{\"hex\":\"");
	put_hex(out, p, n);
	dt_buf_puts(out, "\"}");
}

void dt_json_string(dt_buf *out, const char *s, size_t n)
{
	size_t start = out->n;

	if (dt_json_name(out, s, n))
		return;
	out->n = start;
	dt_buf_puts(out, "{\"text\":");
	dt_json_name(out, s, n);
	dt_buf_puts(out, ",\"hex\":\"");
	put_hex(out, s, n);
	dt_buf_puts(out, "\"}");
}

/* ---- objects ---- */

void dt_json_key(dt_buf *out, const char *key)
{
	char before = out->n ? out->s[out->n - 1] : '{';

	dt_buf_puts(out, before == '{' || before == '[' ? "\"" : ",\"");
	dt_buf_puts(out, key);
	dt_buf_puts(out, "\":");
}

static void put_named(dt_buf *out, const char *key, const char *s)
{
	dt_json_key(out, key);
	dt_json_name(out, s, strlen(s));
}

void dt_json_probe(dt_buf *out, const dt_probe *p)
{
	if (p->machine) /* of another one */
		put_named(out, "machine", p->machine);
	put_named(out, "provider", p->prov);
	put_named(out, "module", p->mod);
	put_named(out, "function", p->func);
	put_named(out, "name", p->name);
}

static void put_frame(dt_buf *out, const dt_frame *f, const char *helper)
{
	dt_buf_putc(out, '{');
	if (f->pc || !f->sym) { /* immstack() has names only */
		dt_json_key(out, "address");
		dt_json_uint(out, f->pc);
	}
	if (f->mod)
		put_named(out, "module", f->mod);
	if (f->sym) {
		put_named(out, "symbol", f->sym);
		dt_json_key(out, "offset");
		dt_json_uint(out, f->off);
	}
	if (f->file) {
		put_named(out, "file", f->file);
		dt_json_key(out, "line");
		dt_json_uint(out, f->line);
	}
	if (helper && helper[0])
		put_named(out, "helper", helper);
	dt_buf_putc(out, '}');
}

static void put_stack(dt_buf *out, const struct dt_consumer_env *env, const dt_value *v)
{
	size_t at = 0;

	if (dt_act(v->act)->payload == DT_PAYLOAD_USTACK) {
		dt_buf_puts(out, "{\"stack\":\"user\",\"pid\":");
		dt_json_int(out, v->pid);
		dt_buf_puts(out, ",\"frames\":[");
	} else {
		dt_buf_puts(out, "{\"stack\":\"kernel\",\"frames\":[");
	}
	for (uint32_t i = 0; i < v->nframes; i++) {
		const char *helper = dt_value_helper(v, &at);
		dt_frame f;

		dt_symbolise(env, v, i, &f);
		dt_find_line(env, v, i, &f);
		if (i > 0)
			dt_buf_putc(out, ',');
		put_frame(out, &f, helper);
	}
	dt_buf_puts(out, "]}");
}

static void put_symbol(dt_buf *out, const struct dt_consumer_env *env, const dt_value *v)
{
	dt_frame f;

	dt_symbolise(env, v, 0, &f);
	if (v->act == DT_ACT_MOD || v->act == DT_ACT_UMOD)
		f.sym = NULL;
	put_frame(out, &f, NULL);
}

static void put_value(dt_buf *out, const struct dt_consumer_env *env, const dt_value *v,
		      unsigned depth);

/* Members of an unnamed structure count as those of the enclosing structure. */
static void put_members(dt_buf *out, const struct dt_consumer_env *env, const dt_value *v,
			unsigned depth)
{
	const char *name;
	dt_value child;

	for (uint32_t i = 0; dt_value_child(env->types, v, i, &child, &name); i++) {
		if (!name && dt_value_is_structure(&child) && depth < DEPTH_MAX)
			put_members(out, env, &child, depth + 1);
		if (!name)
			continue;
		if (out->s[out->n - 1] != '{')
			dt_buf_putc(out, ',');
		dt_json_name(out, name, strlen(name)); /* a hostile file may have named it */
		dt_buf_putc(out, ':');
		put_value(out, env, &child, depth + 1);
	}
}

static void put_bytes(dt_buf *out, const struct dt_consumer_env *env, const dt_value *v,
		      unsigned depth)
{
	uint32_t n = depth < DEPTH_MAX ? dt_value_nchildren(env->types, v) : 0;
	const char *name;
	dt_value child;

	if (dt_value_is_structure(v) && n > 0) {
		dt_buf_puts(out, "{\"members\":{");
		put_members(out, env, v, depth);
		dt_buf_puts(out, "}}");
	} else if (n > 0) {
		dt_buf_putc(out, '[');
		for (uint32_t i = 0; dt_value_child(env->types, v, i, &child, &name); i++) {
			if (i > 0)
				dt_buf_putc(out, ',');
			put_value(out, env, &child, depth + 1);
		}
		dt_buf_putc(out, ']');
	} else {
		dt_json_hex(out, v->data, v->size);
	}
}

static void put_value(dt_buf *out, const struct dt_consumer_env *env, const dt_value *v,
		      unsigned depth)
{
	switch (v->kind) {
	case DT_V_NONE: dt_buf_puts(out, "null"); break;
	case DT_V_INT:
		if (v->is_signed)
			dt_json_int(out, (int64_t)v->u);
		else
			dt_json_uint(out, v->u);
		break;
	case DT_V_FLOAT: put_double(out, dt_value_long_double(v)); break;
	case DT_V_STRING: dt_json_string(out, v->data, v->size); break;
	case DT_V_BYTES: put_bytes(out, env, v, depth); break;
	case DT_V_STACK: put_stack(out, env, v); break;
	case DT_V_SYMBOL: put_symbol(out, env, v); break;
	}
}

void dt_json_value(dt_buf *out, const struct dt_consumer_env *env, const dt_value *v)
{
	put_value(out, env, v, 0);
}

void dt_json_buckets(dt_buf *out, const struct dt_buckets *b, uint64_t normal)
{
	bool first = true;

	dt_buf_putc(out, '[');
	for (uint32_t i = 0; i < b->n; i++) {
		int64_t low, high;

		if (dt_bucket_count(b, i, 1) == 0)
			continue;
		dt_bucket_range(b, i, &low, &high);
		dt_buf_puts(out, first ? "{\"low\":" : ",{\"low\":");
		first = false;
		if (low == INT64_MIN)
			dt_buf_puts(out, "null");
		else
			dt_json_int(out, low);
		dt_buf_puts(out, ",\"high\":");
		if (high == INT64_MAX)
			dt_buf_puts(out, "null");
		else
			dt_json_int(out, high);
		dt_buf_puts(out, ",\"count\":");
		dt_json_int(out, dt_bucket_count(b, i, normal));
		dt_buf_putc(out, '}');
	}
	dt_buf_putc(out, ']');
}

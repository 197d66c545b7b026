/*
 * subr_json: json(document, path), as in json(s, "a.b[0].c"); "a.b.0.c" means the same.
 *
 * The path is walked part by part; at each part the members of the object or array are skipped up
 * to the requested one. Text after the requested element is never read, so it need not be well
 * formed. The result is the text of the element: a string without its quotes (with its escapes
 * unchanged), a number, true, false, null, or the source of a whole object or array. No such
 * element, or a document that is broken before it: NULL.
 *
 * No recursion: skipping counts brackets, so depth costs nothing and time is linear in the
 * document.
 */
#include <ctype.h>

#include "vm/machine.h"

typedef struct cursor {
	const char *p, *end;
} cursor;

static void blanks(cursor *c)
{
	while (c->p < c->end && strchr(" \t\r\n", *c->p))
		c->p++;
}

static bool take(cursor *c, char want)
{
	blanks(c);
	if (c->p == c->end || *c->p != want)
		return false;
	c->p++;
	return true;
}

/* After a backslash: any character, and four hex digits after a u. */
static bool escape(cursor *c)
{
	if (++c->p == c->end)
		return false;
	for (int i = 0; i < 4 && *c->p == 'u'; i++)
		if (c->end - c->p <= i + 1 || !isxdigit((unsigned char)c->p[i + 1]))
			return false;
	return true;
}

/* A string with its quotes; *text is what is between them. */
static bool string(cursor *c, dt_vm_str *text)
{
	if (!take(c, '"'))
		return false;
	text->p = c->p;
	for (; c->p < c->end && *c->p != '"'; c->p++)
		if (*c->p == '\\' && !escape(c))
			return false;
	if (c->p == c->end)
		return false;
	text->n = (size_t)(c->p++ - text->p);
	return true;
}

static bool digits(cursor *c)
{
	const char *start = c->p;

	while (c->p < c->end && isdigit((unsigned char)*c->p))
		c->p++;
	return c->p > start;
}

static bool number(cursor *c)
{
	if (c->p < c->end && *c->p == '-')
		c->p++;
	if (!digits(c))
		return false;
	if (c->p < c->end && *c->p == '.') {
		c->p++;
		if (!digits(c))
			return false;
	}
	if (c->p < c->end && (*c->p | 0x20) == 'e') {
		c->p++;
		if (c->p < c->end && (*c->p == '+' || *c->p == '-'))
			c->p++;
		return digits(c);
	}
	return true;
}

static bool word(cursor *c)
{
	static const char words[][6] = {"true", "false", "null"};

	for (size_t i = 0; i < DT_NELEM(words); i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(c->end - c->p) >= n && memcmp(c->p, words[i], n) == 0) {
			c->p += n;
			return true;
		}
	}
	return false;
}

/* From an opening bracket to the one that closes it. */
static bool nested(cursor *c)
{
	uint64_t depth = 0;
	dt_vm_str s;

	while (c->p < c->end) {
		switch (*c->p) {
		case '{':
		case '[':
			depth++;
			c->p++;
			break;
		case '}':
		case ']':
			c->p++;
			if (--depth == 0)
				return true;
			break;
		case '"':
			if (!string(c, &s))
				return false;
			break;
		default: c->p++; break;
		}
	}
	return false;
}

/* Skip one element; *text is its text as json() returns it. */
static bool element(cursor *c, dt_vm_str *text)
{
	bool ok;

	blanks(c);
	if (c->p == c->end)
		return false;
	if (*c->p == '"')
		return string(c, text);
	text->p = c->p;
	if (*c->p == '{' || *c->p == '[')
		ok = nested(c);
	else
		ok = word(c) || number(c);
	text->n = (size_t)(c->p - text->p);
	return ok;
}

/* ---- the path ---- */

/* The next of "a.b[0].c": a, b, 0, c. The container determines whether it is a name or an index. */
static bool next_part(cursor *path, dt_vm_str *part)
{
	while (path->p < path->end && strchr(".[]", *path->p))
		path->p++;
	part->p = path->p;
	while (path->p < path->end && !strchr(".[]", *path->p))
		path->p++;
	part->n = (size_t)(path->p - part->p);
	return part->n > 0;
}

static bool as_index(dt_vm_str part, uint64_t *index)
{
	*index = 0;
	for (size_t i = 0; i < part.n; i++) {
		if (!isdigit((unsigned char)part.p[i]) || *index > UINT32_MAX)
			return false;
		*index = *index * 10 + (uint64_t)(part.p[i] - '0');
	}
	return true;
}

/* Move the cursor from the start of an object or array to the start of the requested element. */
static bool descend(cursor *c, dt_vm_str part)
{
	bool is_array = take(c, '[');
	dt_vm_str key = {"", 0}, skipped;
	uint64_t want = 0;

	if (is_array ? !as_index(part, &want) : !take(c, '{'))
		return false;
	blanks(c);
	for (uint64_t i = 0; c->p < c->end && *c->p != (is_array ? ']' : '}'); i++) {
		if (!is_array && (!string(c, &key) || !take(c, ':')))
			return false;
		if (is_array ? i == want : key.n == part.n && memcmp(key.p, part.p, key.n) == 0)
			return true;
		if (!element(c, &skipped) || !take(c, ','))
			return false;
		blanks(c);
	}
	return false;
}

/* What may follow an element; "0x10" is not the number 0. */
static bool at_boundary(cursor *c)
{
	blanks(c);
	return c->p < c->end && strchr(",]}", *c->p);
}

DT_VM_SUBR(JSON)
{
	dt_vm_str doc, path, part, text;
	bool any = false;
	cursor c, p;

	if (!dt_vm_str_arg(vm, &arg[0], &doc) || !dt_vm_str_arg(vm, &arg[1], &path))
		return 0;
	c = (cursor){doc.p, doc.p + doc.n};
	p = (cursor){path.p, path.p + path.n};
	for (; next_part(&p, &part); any = true)
		if (!descend(&c, part))
			return 0;
	if (!any || !element(&c, &text) || !at_boundary(&c))
		return 0;
	return dt_vm_str_result(vm, text.p, text.n);
}

/*
 * quote: texts of the user in D.
 *
 * A name becomes a string constant, in which every byte that is not a plain letter, digit or mark is
 * an octal escape, so no text can end the constant. A description may only consist of characters
 * that descriptions have. Code of the user (-t, -E, profiles) is D, but has to be complete: it cannot
 * close what stands around it.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "dwatch.h"

char *quote(const char *text)
{
	char *out = malloc(strlen(text) * 4 + 3), *p = out;

	if (!out)
		fatal("out of memory");
	*p++ = '"';
	for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
		if (isalnum(*s) || strchr(" !#%&'()*+,-./:;<=>@[]^_`|~", *s))
			*p++ = (char)*s;
		else /* three digits always: a digit may follow */
			p += sprintf(p, "\\%03o", *s);
	}
	*p++ = '"';
	*p = '\0';
	return out;
}

bool is_description(const char *text)
{
	const char *colon = NULL;
	bool path = false; /* pid*:/lib/libc.so.6:f:entry */

	for (const char *s = text; *s; s++) {
		if (*s == '/' && !path)
			path = colon && s == colon + 1 && strncmp(text, "pid", 3) == 0;
		if (!isalnum((unsigned char)*s) && !strchr("-$:_.?*\\[]!", *s) &&
		    !(colon && strchr("+~@%<>=&()", *s)) && !(*s == '/' && path))
			return false;
		if (*s == ':') {
			colon = colon ? colon : s;
			path = false;
		}
	}
	return *text != '\0';
}

/* After a constant or a comment that begins at s; NULL: it is not closed. s if there is none. */
static const char *skip_opaque(const char *s)
{
	const char *end;

	if (s[0] == '/' && s[1] == '*')
		return (end = strstr(s + 2, "*/")) ? end + 2 : NULL;
	if (s[0] == '/' && s[1] == '/')
		return (end = strchr(s, '\n')) ? end + 1 : NULL;
	if (*s != '"' && *s != '\'')
		return s;
	for (end = s + 1; *end && *end != *s && *end != '\n'; end++)
		if (*end == '\\' && end[1])
			end++;
	return *end == *s ? end + 1 : NULL;
}

const char *not_closed(const char *text, bool expression)
{
	static const char opening[] = "([{", closing[] = ")]}";
	char open[64];
	int n = 0;

	for (const char *s = text, *next; *s; s = next) {
		const char *o = strchr(opening, *s), *c = strchr(closing, *s);

		next = skip_opaque(s);
		if (!next)
			return "a string or comment is not closed";
		if (next != s)
			continue;
		next = s + 1;
		if (expression && strchr("{};", *s))
			return "it is not an expression";
		if (*s == '#')
			return "'#' is not allowed";
		if (o && n == (int)sizeof(open))
			return "too many brackets";
		if (o)
			open[n++] = closing[o - opening];
		if (c && (n == 0 || open[--n] != *c))
			return "it closes a bracket that it does not open";
	}
	return n ? "a bracket is not closed" : NULL;
}

/*
 * pattern: string functions: the known name nearest to a misspelled one, pattern matching, and D's
 * escapes in both directions.
 *
 * Patterns and words come from users, so the work is bounded: matching is at most length of
 * pattern times length of text (one backtracking point suffices, because only the last '*' seen
 * ever needs to take more), and words beyond WORD_MAX have no neighbours.
 */
#include <stdio.h>
#include <strings.h>

#include "base/base.h"

#define WORD_MAX 64

/*
 * Edit distance with insertions, deletions, replacements and swaps of neighbours (each one step),
 * over three rows of the usual table. A difference of case alone is half a step, so the result is
 * in half steps.
 */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned rows[3][WORD_MAX + 1];
	unsigned *before = rows[0], *above = rows[1], *row = rows[2], *t;

	for (size_t j = 0; j <= nb; j++)
		above[j] = (unsigned)j * 2;
	for (size_t i = 1; i <= na; i++) {
		row[0] = (unsigned)i * 2;
		for (size_t j = 1; j <= nb; j++) {
			unsigned same = a[i - 1] == b[j - 1]		? 0
					: (a[i - 1] ^ b[j - 1]) == 0x20 ? 1
									: 2;
			unsigned d = above[j - 1] + same;

			if (above[j] + 2 < d)
				d = above[j] + 2;
			if (row[j - 1] + 2 < d)
				d = row[j - 1] + 2;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 2 < d)
				d = before[j - 2] + 2;
			row[j] = d;
		}
		t = before;
		before = above;
		above = row;
		row = t;
	}
	return above[nb];
}

/* Are letters of the name all that is missing? */
static bool lacks_letters(const char *word, const char *name)
{
	for (; *name && *word; name++)
		word += *word == *name;
	return !*word;
}

const char *dt_nearest(const char *word, const char *const *names, size_t n)
{
	size_t len = strlen(word);
	/* Up to one edit in three letters is a typing error; more is another word. */
	unsigned allowed = len < 3 ? 1 : len < 6 ? 2 : len < 10 ? 4 : 6;
	const char *best = NULL;

	if (len == 0 || len > WORD_MAX)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t m = names[i] != NULL ? strlen(names[i]) : 0;
		unsigned d;

		if (m == 0 || m > WORD_MAX || m > len + 3 || len > m + 3)
			continue;
		d = strcasecmp(word, names[i]) == 0 ? (strcmp(word, names[i]) != 0) : distance(word, len, names[i], m);
		if (d > allowed || (best && d == allowed && !(lacks_letters(word, names[i]) && !lacks_letters(word, best))))
			continue;
		best = names[i];
		allowed = d;
		if (d == 0)
			break;
	}
	return best;
}

/* ---- did you mean ---- */

enum { HINTS = 3 }; /* names in one hint */

static bool is_separator(char c)
{
	return c == '-' || c == '_' || c == 0;
}

/* Is the word a part of the name, or (first) its first one? */
static bool is_part(const char *word, const char *name, bool first)
{
	size_t n = strlen(word);

	for (const char *p = strstr(name, word); p; p = strstr(p + 1, word))
		if ((p == name || (!first && is_separator(p[-1]))) && is_separator(p[n]))
			return true;
	return false;
}

static size_t with_part(const char *word, const char *const *names, size_t n, bool first, const char **found)
{
	size_t k = 0;

	for (size_t i = 0; i < n && k <= HINTS; i++) {
		bool known = !names[i] || !is_part(word, names[i], first);

		for (size_t j = 0; j < k && !known; j++)
			known = strcmp(found[j], names[i]) == 0;
		if (!known)
			found[k++] = names[i];
	}
	return k;
}

dt_hint dt_did_you_mean(const char *word, const char *const *names, size_t n)
{
	const char *found[HINTS + 1] = {dt_nearest(word, names, n)};
	size_t k = found[0] != NULL, at = 0;
	dt_hint h = {""};

	if (!k && strlen(word) >= 3) {
		k = with_part(word, names, n, true, found);
		k = k > HINTS ? HINTS : k;
	}
	if (!k && strlen(word) >= 3) {
		k = with_part(word, names, n, false, found);
		k = k > HINTS ? 0 : k; /* of many, three would say nothing */
	}
	for (size_t i = 0; i < k && at < sizeof(h.text); i++)
		at += (size_t)snprintf(h.text + at, sizeof(h.text) - at, "%s\"%s\"%s",
				       !i ? "; did you mean " : i + 1 < k ? ", " : " or ", found[i], i + 1 == k ? "?" : "");
	return h;
}

/*
 * Does c belong to the set that starts after '['? *end is set after the ']'; NULL when the set is
 * not closed (the '[' then stands for itself).
 */
static bool in_set(const char *p, char c, const char **end)
{
	bool negated = *p == '!', found = false, first = true;
	unsigned char u = (unsigned char)c;

	if (negated)
		p++;
	*end = NULL;
	for (; *p != '\0' && (*p != ']' || first); first = false) {
		unsigned char lo, hi;

		if (*p == '\\' && p[1] != '\0')
			p++;
		lo = hi = (unsigned char)*p++;
		if (*p == '-' && p[1] != '\0' && p[1] != ']') {
			p++;
			if (*p == '\\' && p[1] != '\0')
				p++;
			hi = (unsigned char)*p++;
		}
		if (lo <= u && u <= hi)
			found = true;
	}
	if (*p == ']')
		*end = p + 1;
	return found != negated;
}

/* Match one text character against the pattern element at p; *next is set after the element. */
static bool match_one(const char *p, char c, const char **next)
{
	const char *end;
	bool ok;

	*next = p + 1;
	switch (*p) {
	case '?': return true;
	case '[':
		ok = in_set(p + 1, c, &end);
		if (end == NULL)
			return c == '[';
		*next = end;
		return ok;
	case '\\':
		if (p[1] == '\0')
			return c == '\\';
		*next = p + 2;
		return c == p[1];
	default: return c == *p;
	}
}

bool dt_glob_match(const char *pattern, const char *text)
{
	const char *p = pattern, *star = NULL, *resume = NULL, *next;

	while (*text != '\0') {
		if (*p == '*') {
			star = ++p;
			resume = text;
		} else if (*p != '\0' && match_one(p, *text, &next)) {
			p = next;
			text++;
		} else if (star != NULL) {
			p = star;
			text = ++resume;
		} else {
			return false;
		}
	}
	while (*p == '*')
		p++;
	return *p == '\0';
}

bool dt_glob_is_pattern(const char *s)
{
	return strpbrk(s, "[?*\\") != NULL;
}

/* The letter of a named escape and the byte it stands for. */
static const struct {
	char letter, byte;
} escapes[] = {
    {'a', '\a'}, {'b', '\b'}, {'f', '\f'}, {'n', '\n'},	 {'r', '\r'},
    {'t', '\t'}, {'v', '\v'}, {'"', '"'},  {'\\', '\\'},
};

static char escape_letter(char byte)
{
	for (size_t i = 0; i < DT_NELEM(escapes); i++)
		if (escapes[i].byte == byte)
			return escapes[i].letter;
	return '\0';
}

void dt_buf_escape(dt_buf *b, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		char letter = escape_letter(s[i]);

		if (c == '\0') { /* the end of the string, as %S shows it */
			dt_buf_puts(b, "\\0");
			return;
		}
		if (letter != '\0')
			dt_buf_printf(b, "\\%c", letter);
		else if (c < ' ' || c > '~')
			dt_buf_printf(b, "\\%03o", c);
		else
			dt_buf_putc(b, s[i]);
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte of the escape after a backslash at s[0..n); returns its length, 0 if it is not an
 * escape. */
static size_t read_escape(const char *s, size_t n, char *byte)
{
	unsigned v = 0;
	size_t i;

	if (n == 0)
		return 0;
	for (i = 0; i < DT_NELEM(escapes); i++) {
		if (escapes[i].letter == s[0]) {
			*byte = escapes[i].byte;
			return 1;
		}
	}
	if (s[0] == 'x') {
		for (i = 1; i < n && hex_digit(s[i]) >= 0; i++)
			v = (v << 4 | (unsigned)hex_digit(s[i])) & 0xff;
		*byte = (char)v;
		return i > 1 ? i : 0;
	}
	for (i = 0; i < n && i < 3 && s[i] >= '0' && s[i] <= '7'; i++)
		v = v * 8 + (unsigned)(s[i] - '0');
	*byte = (char)v;
	return i;
}

size_t dt_unescape(char *s, size_t n)
{
	size_t out = 0;

	for (size_t i = 0; i < n;) {
		char byte;
		size_t len = s[i] == '\\' ? read_escape(s + i + 1, n - i - 1, &byte) : 0;

		if (len > 0) {
			s[out++] = byte;
			i += 1 + len;
		} else { /* an unknown escape keeps its backslash */
			s[out++] = s[i++];
		}
	}
	return out;
}

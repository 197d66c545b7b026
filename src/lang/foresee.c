/*
 * foresee: how often the clauses of a text call each function.
 *
 * Clauses are compiled one by one, so the first one that calls a function cannot know by itself whether others do. The
 * text says it: words before a "(" that are outside of comments, strings and definitions. A call inside of another
 * function counts as often as that one is called. It is an estimate (a clause may be left out, a word may be a
 * probe's), by which only the size of the program is decided, not what it does.
 */
#include <ctype.h>

#include "lang/function.h"

#define SCANS_MAX 16 /* of a text, when functions are defined between clauses */

struct scan {
	const char *p, *end;
	uint32_t braces;
	bool defines;  /* in the definition of a function, an inline, a translator */
	bool follows; /* the last token was a word */
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == ':';
}

static void skip_to(struct scan *s, const char *end, size_t len)
{
	const char *at = memmem(s->p, (size_t)(s->end - s->p), end, len);

	s->p = at ? at + len : s->end;
}

static void skip_quoted(struct scan *s)
{
	char quote = *s->p++;

	while (s->p < s->end && *s->p != quote && *s->p != '\n')
		s->p += *s->p == '\\' && s->p + 1 < s->end ? 2 : 1;
	s->p += s->p < s->end;
}

static void skip_sign(struct scan *s)
{
	size_t left = (size_t)(s->end - s->p);

	if (*s->p == '"' || *s->p == '\'') {
		skip_quoted(s);
	} else if (left > 1 && memcmp(s->p, "/*", 2) == 0) {
		skip_to(s, "*/", 2);
		return;
	} else if (left > 1 && memcmp(s->p, "//", 2) == 0) {
		skip_to(s, "\n", 1);
		return;
	} else {
		s->braces += *s->p == '{';
		s->braces -= *s->p == '}' && s->braces;
		if (!s->braces && (*s->p == '}' || *s->p == ';'))
			s->defines = false;
		s->p++;
	}
	s->follows = false;
}

/* The next word that may be a call: its length, or 0 at the end. */
static size_t next_call(struct scan *s, const char **word)
{
	while (s->p < s->end) {
		const char *start = s->p, *after;
		bool follows = s->follows;

		if (isspace((unsigned char)*s->p)) {
			s->p++;
			continue;
		}
		if (!is_word(*s->p)) {
			skip_sign(s);
			continue;
		}
		while (s->p < s->end && is_word(*s->p))
			s->p++;
		s->follows = true;
		if (!s->braces && s->p - start == 6 && (memcmp(start, "inline", 6) == 0))
			s->defines = true;
		for (after = s->p; after < s->end && isspace((unsigned char)*after); after++)
			;
		if (s->defines || after == s->end || *after != '(' || (follows && !s->braces))
			continue;
		*word = start;
		return (size_t)(s->p - start);
	}
	return 0;
}

static const dt_ident *function_named(dt_compiler *cc, const char *word, size_t len)
{
	char name[128];

	for (size_t i = 0; i < len; i++) /* after a single colon: of ?: or a case */
		if (word[i] == ':' && (i == 0 || word[i - 1] != ':') && (i + 1 == len || word[i + 1] != ':')) {
			word += i + 1;
			len -= i + 1;
			i = (size_t)-1;
		}
	if (len == 0 || len >= sizeof(name))
		return NULL;
	memcpy(name, word, len);
	name[len] = '\0';
	return dt_ident_find(cc, name, 0);
}

bool dt_foresee(dt_compiler *cc)
{
	struct scan s = {.p = cc->lex.text, .end = cc->lex.end};
	const char *word;
	size_t len;

	if (cc->foreseen == cc->shared->nprocedures || cc->nforeseen >= SCANS_MAX)
		return false;
	cc->foreseen = cc->shared->nprocedures;
	cc->nforeseen++;
	while ((len = next_call(&s, &word)) != 0)
		dt_invoke_expect(cc, function_named(cc, word, len));
	return true;
}

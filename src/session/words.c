/*
 * words: a glance at D text without compiling it.
 *
 * Libraries are read only when a program uses a name that one of them defines (libs.c), so the
 * names must be known before anything is compiled. This scanner knows just enough of D for that:
 * comments, strings, control lines, braces. It errs on the side of naming too much: a name too many
 * costs a look into a library, a missing one would be an undefined identifier.
 */
#include <ctype.h>

#include "session/session.h"

void dt_words_start(dt_words *w, const char *text, size_t len)
{
	memset(w, 0, sizeof(*w));
	w->p = text;
	w->end = text + len;
	w->before = '\n';
}

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static const char *skip_line(const char *p, const char *end)
{
	const char *nl = memchr(p, '\n', (size_t)(end - p));

	return nl ? nl : end;
}

static const char *skip_comment(const char *p, const char *end)
{
	const char *close = memmem(p + 2, (size_t)(end - p - 2), "*/", 2);

	return close ? close + 2 : end;
}

static const char *skip_quoted(const char *p, const char *end)
{
	char quote = *p++;

	while (p < end && *p != quote && *p != '\n')
		p += *p == '\\' && p + 1 < end ? 2 : 1;
	return p < end ? p + 1 : end;
}

/* Blanks, comments, control lines. */
static void skip_blank(dt_words *w, bool *new_line)
{
	while (w->p < w->end) {
		char c = *w->p, next = w->p + 1 < w->end ? w->p[1] : 0;

		if (c == '\n') {
			*new_line = true;
			w->p++;
		} else if (isspace((unsigned char)c)) {
			w->p++;
		} else if (c == '/' && next == '*') {
			w->p = skip_comment(w->p, w->end);
		} else if ((c == '/' && next == '/') || (c == '#' && *new_line)) {
			w->p = skip_line(w->p, w->end);
		} else {
			break;
		}
	}
}

bool dt_words_next(dt_words *w)
{
	bool new_line = w->before == '\n';

	if (w->word)
		w->before = 'a';
	else if (w->punct)
		w->before = w->punct == '>' && w->before == '-' ? '.' : w->punct;
	if (!w->word && w->punct == '{')
		w->depth++;
	else if (!w->word && w->punct == '}' && w->depth)
		w->depth--;
	w->word = NULL;
	w->punct = 0;
	for (;;) {
		skip_blank(w, &new_line);
		if (w->p == w->end)
			return false;
		if (*w->p != '"' && *w->p != '\'')
			break;
		w->p = skip_quoted(w->p, w->end);
		w->before = '"';
	}
	if (!is_word_char(*w->p)) {
		w->punct = *w->p++;
		return true;
	}
	w->word = w->p;
	while (w->p < w->end && is_word_char(*w->p))
		w->p++;
	w->len = (uint32_t)(w->p - w->word);
	return true;
}

static bool is_word(const dt_words *w, const char *s)
{
	return w->word && w->len == strlen(s) && memcmp(w->word, s, w->len) == 0;
}

bool dt_words_assigned(const char *p, const char *end)
{
	char op, next;

	while (p < end && isspace((unsigned char)*p))
		p++;
	if (end - p < 2)
		return false;
	op = p[0];
	next = p[1];
	if (op == '=')
		return next != '=';
	if ((op == '<' || op == '>') && next == op)
		return end - p > 2 && p[2] == '=';
	if ((op == '+' || op == '-') && next == op)
		return true;
	return strchr("+-*/%&|^", op) && next == '=';
}

/* ---- what a program uses ---- */

#define MAX_BRACKETS 32

/* Between clauses, text is either a declaration, which begins with one of these or ends with ';',
 * or a probe description, whose words are not identifiers. */
static bool begins_declaration(const dt_words *w)
{
	static const char *const words[] = {
	    "auto",	  "char",    "const",  "counter",  "double",   "enum",	   "extern",
	    "float",	  "import",  "inline", "int",	   "long",     "provider", "register",
	    "self",	  "short",   "signed", "static",   "string",   "struct",   "this",
	    "translator", "typedef", "union",  "unsigned", "userland", "void",	   "volatile",
	};

	for (size_t i = 0; i < DT_NELEM(words); i++)
		if (is_word(w, words[i]))
			return true;
	return false;
}

struct usage {
	dt_map *names;		     /* used */
	dt_map *own;		     /* assigned or declared here */
	dt_map *pending;	     /* words of the current segment between clauses */
	char open[MAX_BRACKETS][64]; /* names whose '[' is open */
	int nopen;
};

static void put(dt_map *m, const char *s, size_t len)
{
	char name[64];

	if (len >= sizeof(name) || isdigit((unsigned char)s[0]))
		return; /* no library name is that long */
	memcpy(name, s, len);
	name[len] = 0;
	dt_map_set(m, name, m);
}

/* a[...] = makes `a` the program's own, just as a = does. */
static void note_bracket(struct usage *u, const dt_words *w)
{
	if (u->nopen < MAX_BRACKETS) {
		size_t n = 0;
		const char *e = w->p - 1; /* at the '[' */

		while (w->before == 'a' && n < 63 && is_word_char(e[-1])) {
			e--;
			n++;
		}
		memcpy(u->open[u->nopen], e, n);
		u->open[u->nopen][n] = 0;
	}
	u->nopen++;
}

static void note_punct(struct usage *u, const dt_words *w)
{
	if (w->punct == '[')
		note_bracket(u, w);
	else if (w->punct == ']' && u->nopen > 0 && --u->nopen < MAX_BRACKETS &&
		 u->open[u->nopen][0] && dt_words_assigned(w->p, w->end))
		dt_map_set(u->own, u->open[u->nopen], u);
	else if (strchr(";{}", w->punct))
		u->nopen = 0;
}

static void move_pending(struct usage *u, bool keep)
{
	const char *name;
	void *value;
	uint32_t it = 0;

	while (keep && dt_map_next(u->pending, &it, &name, &value))
		dt_map_set(u->names, name, u);
	dt_map_free(u->pending);
	u->pending = dt_map_new();
}

/* A word counts unless it is a member, an aggregation, a macro or a kernel symbol. */
static bool is_identifier(const dt_words *w)
{
	return !strchr(".@$`", w->before);
}

void dt_words_used(const char *text, size_t len, dt_map *names)
{
	struct usage u = {.names = names, .own = dt_map_new(), .pending = dt_map_new()};
	enum { START, DESCRIPTION, DECLARATION, PREDICATE } part = START;
	bool value = false; /* in a declaration, after '=' */
	const char *name;
	void *mark;
	uint32_t it = 0;
	dt_words w;

	dt_words_start(&w, text, len);
	while (dt_words_next(&w)) {
		if (w.word && w.depth == 0 && part == START) {
			part = begins_declaration(&w) ? DECLARATION : DESCRIPTION;
			value = false;
		}
		if (w.word && is_identifier(&w)) {
			const char *p = w.p;

			while (p < w.end && isspace((unsigned char)*p))
				p++;
			if (dt_words_assigned(w.p, w.end) ||
			    (part == DECLARATION && w.depth == 0 && !value && p < w.end &&
			     strchr(";,[", *p)))
				put(u.own, w.word, w.len);
			put(w.depth || part == PREDICATE ? names : u.pending, w.word, w.len);
		}
		if (w.word)
			continue;
		note_punct(&u, &w);
		if (w.depth == 0 && w.punct == '=')
			value = true;
		if (w.depth == 0 && w.punct == '/' && (part == DESCRIPTION || part == START)) {
			move_pending(&u, false);
			part = PREDICATE;
		} else if (w.depth == 0 && (w.punct == ';' || w.punct == '{')) {
			move_pending(&u, part == DECLARATION || w.punct == ';');
			if (w.punct == ';')
				part = START;
		} else if (w.punct == '}' && w.depth == 1 && part != DECLARATION) {
			part = START;
		}
	}
	move_pending(&u, part == DECLARATION);
	while (dt_map_next(u.own, &it, &name, &mark))
		dt_map_del(names, name);
	dt_map_free(u.own);
	dt_map_free(u.pending);
}

/* ---- what a library defines ---- */

static void define_providers(const char *text, size_t len, dt_map *names)
{
	static const char mark[] = "depends_on provider ";
	const char *p = text, *end = text + len;

	while ((p = memmem(p, (size_t)(end - p), mark, sizeof(mark) - 1))) {
		char key[96] = "provider ";
		size_t n = strlen(key);

		p += sizeof(mark) - 1;
		while (p < end && n < sizeof(key) - 1 && is_word_char(*p))
			key[n++] = *p++;
		dt_map_set(names, key, names);
	}
}

/* In the head of a declaration (before '='), the word that is declared stands before one of these;
 * enumerators do, too. */
static bool is_declared(const dt_words *w)
{
	const char *p = w->p;

	while (p < w->end && isspace((unsigned char)*p))
		p++;
	return p < w->end && strchr(";,[={})", *p);
}

void dt_words_defined(const char *text, size_t len, dt_map *names)
{
	bool head = true, in_enum = false, after_translator = false;
	dt_words w;

	dt_words_start(&w, text, len);
	while (dt_words_next(&w)) {
		if (is_word(&w, "enum"))
			in_enum = true;
		if (w.word && ((w.depth == 0 && head) || (w.depth == 1 && in_enum)) &&
		    (after_translator || is_declared(&w)))
			put(names, w.word, w.len);
		after_translator = is_word(&w, "translator");
		if (w.depth == 0 && w.punct == '=')
			head = false;
		else if (w.depth == 0 && w.punct == ';')
			head = true, in_enum = false;
	}
	define_providers(text, len, names);
}

/* Structures that a program defines itself: it does not mean those of a library. */
void dt_words_tags(const char *text, size_t len, dt_map *names)
{
	bool after = false;
	dt_words w;

	dt_words_start(&w, text, len);
	while (dt_words_next(&w)) {
		const char *p = w.p;

		while (p < w.end && isspace((unsigned char)*p))
			p++;
		if (w.word && after && p < w.end && *p == '{')
			put(names, w.word, w.len);
		after = is_word(&w, "struct") || is_word(&w, "union") || is_word(&w, "enum");
	}
}

/* ---- where in a program ---- */

const char *dt_words_region(const char *text, size_t len, uint32_t line, uint32_t column)
{
	const char *place = text;
	bool predicate = false;
	dt_words w;

	for (uint32_t l = 1; l < line; l++) {
		place = skip_line(place, text + len);
		if (place < text + len)
			place++;
	}
	if (column > 1)
		place += column - 1;
	dt_words_start(&w, text, len);
	while (dt_words_next(&w)) {
		if ((w.word ? w.word : w.p - 1) >= place)
			break;
		if (w.depth == 0 && w.punct == '/')
			predicate = true;
		else if (w.punct == '{' || w.punct == ';')
			predicate = false;
	}
	return w.depth ? "in action list: " : predicate ? "in predicate: " : NULL;
}

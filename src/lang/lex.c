/*
 * lex: text -> tokens.
 *
 * D has two vocabularies. Between clauses (LEX_OUTER, lex_outer.c) a probe description is one
 * token; inside clauses and declarations (LEX_EXPR) the tokens are C's. The lexer itself changes to
 * LEX_EXPR at '{', at the '/' that opens a predicate and at a word that begins a declaration. The
 * parser changes back to LEX_OUTER while the last token of a clause or declaration is current,
 * before it asks for the next.
 *
 * A '/' ends a predicate when end of input, ';', '{' or '/' comes next; otherwise it divides.
 */
#include <stdio.h>

#include "lang/lex.h"
#include "type/user.h"

/* How far ahead a '`' is looked for that would make "a.out" a module name. */
#define MODULE_MAX 256

/* ---- tokens inside expressions ---- */

/* Replacements of plain characters by word processors and web pages, for programs pasted from
 * there. */
static const struct {
	const char *utf8, *plain;
} typographic[] = {
    {"\u201c", "\""}, {"\u201d", "\""}, {"\u201e", "\""}, {"\u2018", "'"}, {"\u2019", "'"},
    {"\u2013", "-"},  {"\u2014", "-"},	{"\u2212", "-"},  {"\u00a0", " "},
};

_Noreturn static void bad_character(dt_compiler *cc)
{
	unsigned char c = (unsigned char)*cc->lex.p;

	for (size_t i = 0; i < DT_NELEM(typographic); i++) {
		const char *u = typographic[i].utf8;
		if ((size_t)(cc->lex.end - cc->lex.p) >= strlen(u) &&
		    strncmp(cc->lex.p, u, strlen(u)) == 0)
			dt_fail(cc, dt_lex_pos(cc), D_SYNTAX,
				"invalid character '%s': write the plain character '%s'", u,
				typographic[i].plain);
	}
	if (isprint(c))
		dt_fail(cc, dt_lex_pos(cc), D_SYNTAX, "invalid character '%c'", c);
	dt_fail(cc, dt_lex_pos(cc), D_SYNTAX, "invalid character '\\x%02x'", c);
}

static void end_predicate(dt_compiler *cc)
{
	dt_lexer *lx = &cc->lex;

	if (lx->parens > 0 || lx->brackets > 0)
		dt_fail(cc, dt_lex_pos(cc), D_SYNTAX,
			"the predicate ends before its %c is closed near \"/\"",
			lx->parens > 0 ? '(' : '[');
	lx->in_predicate = false;
}

static void count_nesting(dt_lexer *lx, int c)
{
	switch (c) {
	case '(': lx->parens++; break;
	case ')': lx->parens--; break;
	case '[': lx->brackets++; break;
	case ']': lx->brackets--; break;
	case '{': lx->braces++; break;
	case '}': lx->braces--; break;
	default: break;
	}
}

void dt_lex_operator(dt_compiler *cc, dt_token *t)
{
	dt_lexer *lx = &cc->lex;
	size_t len;

	t->kind = dt_lex_find_operator(lx->p, (size_t)(lx->end - lx->p), &len);
	if (t->kind == 0)
		bad_character(cc);
	count_nesting(lx, t->kind);
	lx->p += len;
}

/* Does the '/' at p end the predicate? */
static bool is_predicate_end(const dt_lexer *lx)
{
	char next = lx->in_predicate ? dt_lex_next_visible(lx, lx->p + 1) : 'x';

	return next == '\0' || next == ';' || next == '{' || next == '/';
}

/* In a predicate "//" begins a comment, except where its first slash is the closing one and the
 * second begins a comment itself: "x//\* c *\/", "x/// c". dt_lex_skip_blanks() must not see those.
 */
static bool closes_before_comment(const dt_lexer *lx)
{
	return lx->in_predicate && lx->end - lx->p > 2 && lx->p[0] == '/' && lx->p[1] == '/' &&
	       (lx->p[2] == '*' || lx->p[2] == '/');
}

/* One identifier at s: how long it is. */
static size_t ident_len(const dt_lexer *lx, const char *s)
{
	const char *q = s;

	if (q < lx->end && is_ident_start(*q))
		while (q < lx->end && is_ident_char(*q))
			q++;
	return (size_t)(q - s);
}

/* What follows "pid123`" or "pid$target`" at s; NULL if s does not begin so. */
const char *dt_lex_after_process(const dt_lexer *lx, const char *s)
{
	bool macro;

	if (lx->end - s < 5 || memcmp(s, "pid", 3) != 0)
		return NULL;
	s += 3;
	macro = *s == '$';
	if (!isdigit((unsigned char)*s) && !macro)
		return NULL;
	for (s++; s < lx->end && (macro ? is_ident_char(*s) : isdigit((unsigned char)*s)); s++)
		;
	return s < lx->end && *s == '`' ? s + 1 : NULL;
}

/* At the name of an object, which may have any of these characters: the '`' after it, or NULL. */
static const char *after_object(const dt_lexer *lx, const char *s)
{
	const char *limit = s + MODULE_MAX;

	while (s < lx->end && s < limit &&
	       (is_ident_char(*s) || *s == '.' || *s == '-' || *s == '+'))
		s++;
	return s < lx->end && *s == '`' ? s : NULL;
}

/* The last '`' of mod`sym, LM1`lib`sym, pid12`a.out`sym at p, or NULL when there is none. */
static const char *last_backquote(const dt_lexer *lx)
{
	const char *s = lx->p, *last = NULL, *limit = s + MODULE_MAX, *object, *quote;

	object = dt_lex_after_process(lx, s);
	if (object) {
		last = is_ident_start(*object) ? object - 1 : NULL;
		s = (quote = after_object(lx, object)) ? quote : object;
	}
	while (s < lx->end && s < limit && (is_ident_char(*s) || *s == '.' || *s == '`')) {
		if (*s == '`' && s + 1 < lx->end && is_ident_start(s[1]))
			last = s;
		s++;
	}
	return last;
}

/* The module before a '`': a macro may stand for the number of a process. */
static const char *module_name(dt_compiler *cc, dt_pos pos, const char *s, size_t len)
{
	const char *name = dt_arena_strndup(cc->arena, s, len), *dollar = strchr(name, '$'), *rest;
	dt_token value = {.pos = pos};

	if (!dollar)
		return name;
	rest = strchr(dollar, '`') ? strchr(dollar, '`') : name + len;
	dt_macro_expand(cc, dt_arena_strndup(cc->arena, dollar + 1, (size_t)(rest - dollar) - 1),
			true, &value);
	return dt_arena_printf(cc->arena, "pid%s%s", value.text, rest);
}

/* "<int, std::less<int> >" at s: its length; 0: not found. */
static size_t arguments_len(const dt_lexer *lx, const char *s)
{
	int depth = 0;

	for (const char *p = s; p < lx->end && !strchr(";{}\"\n", *p); p++) {
		depth += (*p == '<') - (*p == '>');
		if (depth == 0)
			return p > s ? (size_t)(p - s) + 1 : 0;
	}
	return 0;
}

/* "ns::type": names of languages other than C contain it, and D does not use "::" otherwise. */
static size_t qualified_len(const dt_lexer *lx, const char *s, size_t len)
{
	size_t more;

	if (lx->before_tag && s + len < lx->end && s[len] == '<')
		len += arguments_len(lx, s + len);
	while (lx->end - s > (ptrdiff_t)len + 2 && s[len] == ':' && s[len + 1] == ':' &&
	       (more = ident_len(lx, s + len + 2)) > 0) {
		len += more + 2;
		if (lx->before_tag && s + len < lx->end && s[len] == '<')
			len += arguments_len(lx, s + len);
	}
	return len;
}

/* After a word: "::name" if it is there, and in the text of a module which name that is. `kind`: module.c. */
static const char *full_name(dt_compiler *cc, dt_pos pos, const char *word, int kind)
{
	dt_lexer *lx = &cc->lex;
	size_t more = lx->end - lx->p > 2 && lx->p[0] == ':' && lx->p[1] == ':' ? ident_len(lx, lx->p + 2) : 0;

	if (more) {
		const char *name = dt_arena_strndup(cc->arena, lx->p + 2, more);

		lx->p += more + 2;
		return cc->exports ? word : dt_module_name(cc, pos, word, name, kind);
	}
	if (!cc->module || lx->last == '.' || lx->last == T_ARROW)
		return word;
	return kind == '@' ? dt_module_private(cc, word) : dt_module_word(cc, word, kind);
}

/* "import name [version];" and "module name [version];" are one token. */
static void lex_reference(dt_compiler *cc, dt_token *t, int kind, size_t len)
{
	dt_lexer *lx = &cc->lex;
	const char *version;

	t->kind = kind;
	lx->p += len;
	dt_lex_skip_blanks(cc);
	t->len = (uint32_t)ident_len(lx, lx->p);
	t->text = dt_arena_strndup(cc->arena, lx->p, t->len);
	lx->p += t->len;
	dt_lex_skip_blanks(cc);
	for (version = lx->p; lx->p < lx->end && (isdigit((unsigned char)*lx->p) || *lx->p == '.');)
		lx->p++;
	t->module = dt_arena_strndup(cc->arena, version, (size_t)(lx->p - version));
	dt_lex_skip_blanks(cc);
	if (lx->p >= lx->end || *lx->p != ';')
		dt_fail(cc, t->pos, D_SYNTAX, "syntax error: expected %s %s; or %s %s 1.0;",
			kind == T_IMPORT ? "import" : "module", t->text, kind == T_IMPORT ? "import" : "module", t->text);
	lx->p++;
}

int dt_lex_reference(const dt_lexer *lx, size_t len)
{
	int kind = len != 6					       ? 0
		   : memcmp(lx->p, "import", 6) == 0		       ? T_IMPORT
		   : lx->last == 0 && memcmp(lx->p, "module", 6) == 0 ? T_MODULE
								       : 0;

	return kind && is_ident_start(dt_lex_next_visible(lx, lx->p + len)) ? kind : 0;
}

static bool is_tag_word(int kind)
{
	return kind == T_STRUCT || kind == T_UNION || kind == T_ENUM;
}

static void lex_word(dt_compiler *cc, dt_token *t)
{
	dt_lexer *lx = &cc->lex;
	const char *quote = last_backquote(lx), *start = quote ? quote + 1 : lx->p;
	size_t len = ident_len(lx, start);
	int keyword = dt_keyword(start, len);

	if (quote) {
		t->module = module_name(cc, t->pos, lx->p, (size_t)(quote - lx->p));
		if (keyword != T_STRUCT && keyword != T_UNION && keyword != T_ENUM)
			keyword = 0;
		if (!keyword && dt_module_is_user(t->module))
			len = qualified_len(lx, start, len);
	} else if (lx->before_tag && !keyword) {
		len = qualified_len(lx, start, len);
	}
	lx->before_tag = quote && keyword && dt_module_is_user(t->module);
	t->kind = keyword ? keyword : T_IDENT;
	t->text = dt_arena_strndup(cc->arena, start, len);
	t->len = (uint32_t)len;
	lx->p = start + len;
	if (t->kind == T_IDENT && !quote && lx->p < lx->end && *lx->p == '`') { /* "a`": an empty name in module a */
		t->module = t->text;
		t->text = "";
		t->len = 0;
		lx->p++;
		return;
	}
	if (t->kind != T_IDENT || quote || (!cc->module && (lx->p == lx->end || *lx->p != ':')))
		return;
	t->text = full_name(cc, t->pos, t->text, is_tag_word(lx->last) ? '.' : 0);
	t->len = (uint32_t)strlen(t->text);
}

static void lex_aggregation(dt_compiler *cc, dt_token *t)
{
	dt_lexer *lx = &cc->lex;
	size_t len = ident_len(lx, ++lx->p);

	t->kind = T_AGG;
	t->text = len ? dt_arena_strndup(cc->arena, lx->p, len) : "_";
	lx->p += len;
	t->text = full_name(cc, t->pos, t->text, '@');
	t->len = (uint32_t)strlen(t->text);
}

static void lex_macro(dt_compiler *cc, dt_token *t)
{
	dt_lexer *lx = &cc->lex;
	const char *s = lx->p + 1;
	bool as_string = s < lx->end && *s == '$';
	const char *name = s + as_string, *q = name;

	if (q < lx->end && isdigit((unsigned char)*q))
		while (q < lx->end && isdigit((unsigned char)*q))
			q++;
	else
		q += ident_len(lx, q);
	if (q == name)
		dt_fail(cc, t->pos, D_SYNTAX,
			"$ must be followed by the name of a macro, as in "
			"$1 or $target");
	dt_macro_expand(cc, dt_arena_strndup(cc->arena, name, (size_t)(q - name)), as_string, t);
	if (t->kind == T_IDENT && dt_keyword(t->text, t->len))
		t->kind = dt_keyword(t->text, t->len);
	lx->p = q;
}

/* Is there another literal right after this one? */
static bool more_string(dt_compiler *cc)
{
	dt_lexer *lx = &cc->lex;

	if (closes_before_comment(lx))
		return false;
	dt_lex_skip_blanks(cc);
	return lx->p < lx->end && *lx->p == '"';
}

/* Adjacent literals are one string. */
static void lex_strings(dt_compiler *cc, dt_token *t)
{
	size_t cap = 0;
	char *joined = NULL;
	dt_token piece;

	dt_lex_string(cc, t);
	while (more_string(cc)) {
		dt_lex_string(cc, &piece);
		size_t need = (size_t)t->len + piece.len + 1;
		if (need > cap) {
			cap = need * 2;
			joined = dt_arena_alloc(cc->arena, cap);
			memcpy(joined, t->text, t->len);
			t->text = joined;
		}
		memcpy(joined + t->len, piece.text, piece.len + 1);
		t->len += piece.len;
	}
}

void dt_lex_expr(dt_compiler *cc, dt_token *t)
{
	dt_lexer *lx = &cc->lex;
	int how;
	size_t len;

again:
	if (!closes_before_comment(lx))
		dt_lex_skip_blanks(cc);
	memset(t, 0, sizeof(*t));
	t->pos = dt_lex_pos(cc);
	t->from = lx->p;
	if (lx->p >= lx->end)
		return;
	char c = *lx->p, d = lx->end - lx->p > 1 ? lx->p[1] : '\0';
	if (is_ident_start(c)) {
		len = ident_len(lx, lx->p);
		how = dt_lex_find_word(lx->p, len);
		if (how < 0) {
			dt_lex_skip_word(cc, how, len);
			goto again;
		}
		how = dt_lex_reference(lx, len);
		if (how)
			lex_reference(cc, t, how, len);
		else
			lex_word(cc, t);
	} else if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)d))) {
		dt_lex_number(cc, t);
	} else if (c == '"') {
		lex_strings(cc, t);
	} else if (c == '\'') {
		dt_lex_char(cc, t);
	} else if (c == '@') {
		lex_aggregation(cc, t);
	} else if (c == '$') {
		lex_macro(cc, t);
	} else if (c == '`' && is_ident_start(d)) {
		lex_word(cc, t);
	} else if (c == '`') { /* a kernel symbol with an empty name */
		t->kind = T_IDENT;
		t->text = t->module = "";
		lx->p++;
	} else if (c == '/' && (closes_before_comment(lx) || is_predicate_end(lx))) {
		end_predicate(cc);
		t->kind = T_PRED_CLOSE;
		lx->p++;
	} else {
		dt_lex_operator(cc, t);
	}
}

/* ---- what the parser calls ---- */

void dt_lex_start(dt_compiler *cc, const char *text, size_t len, enum dt_lexmode mode)
{
	/* A library's inlines and translators are checked again where they are used: say where they come from. */
	const char *file = cc->src && cc->src->is_library && cc->prog ? cc->prog->name : NULL;
	const char *nul;
	char *kept;

	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* some editors write it first */
		text += 3;
		len -= 3;
	}
	if (!cc->exports) { /* messages about faults quote it while the program runs */
		kept = dt_arena_alloc(cc->arena, len + 1);
		text = memcpy(kept, text, len);
	}
	cc->nahead = 0;
	cc->lex = (dt_lexer){.text = text,
			     .p = text,
			     .end = text + len,
			     .line = 1,
			     .line_start = text,
			     .file = file,
			     .first_file = file,
			     .mode = mode};
	nul = memchr(text, '\0', len);
	if (!nul)
		return;
	for (; cc->lex.p < nul;) {
		if (*cc->lex.p == '\n')
			dt_lex_newline(&cc->lex);
		else
			cc->lex.p++;
	}
	dt_fail(cc, dt_lex_pos(cc), D_SYNTAX, "the program contains a NUL byte");
}

static void lex_token(dt_compiler *cc, dt_token *t)
{
	if (cc->lex.mode == LEX_OUTER)
		dt_lex_outer(cc, t);
	else
		dt_lex_expr(cc, t);
	cc->lex.last = t->kind;
	t->to = cc->lex.p;
}

void dt_lex_next(dt_compiler *cc)
{
	dt_lexer *lx = &cc->lex;
	dt_token t;

	lx->end_before = lx->tok.to;
	if (cc->nahead == 0) {
		lex_token(cc, &t);
		lx->tok = t;
		return;
	}
	lx->tok = cc->ahead[0];
	cc->nahead--;
	memmove(&cc->ahead[0], &cc->ahead[1], (size_t)cc->nahead * sizeof(cc->ahead[0]));
}

const dt_token *dt_lex_peek(dt_compiler *cc, int n)
{
	while (cc->nahead <= n) {
		lex_token(cc, &cc->ahead[cc->nahead]);
		cc->nahead++;
	}
	return &cc->ahead[n];
}

void dt_syntax(dt_compiler *cc, const char *fmt, ...)
{
	dt_token *t = &cc->lex.tok;
	char what[512] = "syntax error", near[256] = "end of input";
	dt_buf scratch = {0};
	va_list ap;

	if (fmt) {
		va_start(ap, fmt);
		vsnprintf(what, sizeof(what), fmt, ap);
		va_end(ap);
	}
	if (t->kind != T_EOF)
		snprintf(near, sizeof(near), "\"%s\"", dt_tok_name(t, &scratch));
	dt_buf_free(&scratch); /* before the jump */
	dt_fail(cc, t->pos, D_SYNTAX, "%s near %s", what, near);
}

void dt_lex_expect(dt_compiler *cc, int kind, const char *what)
{
	if (cc->lex.tok.kind != kind)
		dt_syntax(cc, "syntax error: expected %s", what);
	dt_lex_next(cc);
}

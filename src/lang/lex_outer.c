/*
 * lex_outer: tokens between clauses.
 *
 * Here a word like profile-997hz or syscall::open*:entry is one token, a probe description. Text
 * that could be either a type or a description ("int*") is tried as a type first, except on the
 * command line and with -x pspec. Kernel types are looked up only if the next text cannot follow a
 * description, so that a plain script never loads BTF.
 */
#include "lang/decl.h"
#include "lang/lex.h"

/* Keywords that begin a declaration between clauses; the others can be part of a probe name
 * ("return"). */
static bool begins_declaration_word(int token)
{
	switch (token) {
	case T_AUTO:
	case T_EXTERN:
	case T_INLINE:
	case T_PROVIDER:
	case T_REGISTER:
	case T_SELF:
	case T_STATIC:
	case T_THIS:
	case T_TRANSLATOR:
	case T_TYPEDEF: return true;
	default: return dt_is_type_keyword(token);
	}
}

/* A path follows the colon: those of the pid provider, and what other tracers have (probe/foreign.c says what D has). */
static bool may_have_path(const char *first, const char *colon)
{
	static const char *const others[] = {"uprobe", "uretprobe", "usdt", "u", "ur", "U"};
	size_t n = (size_t)(colon - first);

	for (size_t i = 0; i < DT_NELEM(others); i++)
		if (strlen(others[i]) == n && memcmp(first, others[i], n) == 0)
			return true;
	return strncmp(first, "pid", 3) == 0;
}

/* After the first colon there are names of files and of functions: libstdc++.so.6, operator=. A
 * slash begins a predicate, but not where it is the first of a module of a pid provider:
 * pid*:/lib/libc.so.6:f:entry. */
static size_t description_len(const dt_lexer *lx)
{
	const char *s = lx->p, *colon = NULL;
	bool path = false;

	for (; s < lx->end && *s; s++) {
		if (*s == '\\' && lx->end - s > 1 && (s[1] == '\n' || s[1] == '\r'))
			break;
		if (*s == '/' && !path)
			path = colon && s == colon + 1 && may_have_path(lx->p, colon);
		if (!isalnum((unsigned char)*s) && !strchr("-$:_.?*\\[]!", *s) &&
		    !(*s == '`' && s > lx->p) && !(colon && strchr("+~@%<>=&()", *s)) &&
		    !(*s == '/' && path))
			break;
		if (*s == ':') {
			colon = colon ? colon : s;
			path = false;
		}
	}
	return (size_t)(s - lx->p);
}

static bool names_type(dt_compiler *cc, const char *word, size_t len, bool kernel)
{
	const char *quote = memrchr(word, '`', len), *module = NULL;

	if (quote) {
		module = dt_arena_strndup(cc->arena, word, (size_t)(quote - word));
		len -= (size_t)(quote + 1 - word);
		word = quote + 1;
		int keyword = dt_keyword(word, len);
		if (keyword == T_STRUCT || keyword == T_UNION || keyword == T_ENUM)
			return true;
	}
	if (dt_is_type_keyword(dt_keyword(word, len)))
		return true;
	word = dt_arena_strndup(cc->arena, word, len);
	if (cc->module && !module)
		word = dt_module_word(cc, word, 0);
	return dt_named_type(cc, module, word, kernel) != NULL;
}

/* "net::type_t x", where net is imported; no name can follow a description. */
static bool is_module_type(const dt_compiler *cc, size_t len, char next)
{
	const char *text = cc->lex.p, *colon = cc->imports ? memchr(text, ':', len) : NULL;

	return colon && text + len - colon > 2 && colon[1] == ':' && is_ident_start(colon[2]) &&
	       !memchr(colon + 2, ':', (size_t)(text + len - colon) - 2) && (is_ident_start(next) || next == '*') &&
	       dt_is_imported(cc, text, (size_t)(colon - text));
}

/* "export" of a module (what is exported, exports.c knows), and all of "export @name;". False: it is not there. */
static bool skip_export(dt_compiler *cc, size_t len)
{
	dt_lexer *lx = &cc->lex;
	const char *end;

	if (!cc->module || len != 6 || memcmp(lx->p, "export", 6) != 0)
		return false;
	lx->p += len;
	if (dt_lex_next_visible(lx, lx->p) != '@')
		return true;
	end = memchr(lx->p, ';', (size_t)(lx->end - lx->p));
	if (!end || memchr(lx->p, '\n', (size_t)(end - lx->p)))
		dt_fail(cc, dt_lex_pos(cc), D_SYNTAX, "syntax error: expected export @name;");
	lx->p = end;
	return true;
}

/* Does the text at p, which has the form of a description, begin a declaration? What may follow a
 * description is ',' '/' '{' and, on the command line, ';' or the end; so a name or a '*' after it
 * decides, and only then are kernel types looked up. */
static bool begins_declaration(dt_compiler *cc, size_t len, bool forced)
{
	const dt_lexer *lx = &cc->lex;
	const char *text = lx->p, *end = text + len, *s = text;
	char next = dt_lex_next_visible(lx, end);

	if (dt_lex_after_process(lx, text)) /* pid123`a.out`struct foo *x; */
		return true;
	if (dt_lex_reference(lx, len) || is_module_type(cc, len, next))
		return true;
	if (!is_ident_start(*text) || memchr(text, ':', len))
		return false;
	if (begins_declaration_word(dt_keyword(text, len)))
		return true;
	while (s < end && (is_ident_char(*s) || *s == '`'))
		s++;
	size_t word = (size_t)(s - text);
	size_t stars = 0;
	while (s + stars < end && s[stars] == '*')
		stars++;
	if (s + stars == end) { /* "foo_t" or "foo_t*" */
		bool declarator = is_ident_start(next) || next == '*' || (stars && next == '(');
		if (declarator)
			return names_type(cc, text, word, true);
		if (forced || (stars == 0 && next != ';'))
			return false;
		return names_type(cc, text, word, false);
	}
	/* "foo_t*x;" */
	return stars && is_ident_start(s[stars]) && !forced && (next == ';' || next == '=') &&
	       names_type(cc, text, word, true);
}

void dt_lex_outer(dt_compiler *cc, dt_token *t)
{
	dt_lexer *lx = &cc->lex;
	bool forced =
	    lx->tok.kind == ',' || (cc->src && cc->src->is_cmdline) || dt_opt(cc->opts, DT_O_PSPEC);
	int how;
	size_t len;

again:
	dt_lex_skip_blanks(cc);
	memset(t, 0, sizeof(*t));
	t->pos = dt_lex_pos(cc);
	if (lx->p >= lx->end)
		return;
	if (*lx->p == '/') {
		t->kind = T_PRED_OPEN;
		lx->p++;
		lx->mode = LEX_EXPR;
		lx->in_predicate = true;
		lx->parens = lx->brackets = lx->braces = 0;
		return;
	}
	len = description_len(lx);
	if (len == 0) {
		dt_lex_operator(cc, t);
		if (t->kind == '{')
			lx->mode = LEX_EXPR;
		return;
	}
	if (skip_export(cc, len))
		goto again;
	how = dt_lex_find_word(lx->p, len);
	if (how < 0) {
		dt_lex_skip_word(cc, how, len);
		goto again;
	}
	if (lx->tok.kind != ',' && begins_declaration(cc, len, forced)) {
		lx->mode = LEX_EXPR;
		dt_lex_expr(cc, t);
		return;
	}
	t->kind = T_PSPEC;
	t->text = dt_arena_strndup(cc->arena, lx->p, len);
	t->len = (uint32_t)len;
	lx->p += len;
}

/*
 * exports: what a library defines, found in its tokens without compiling it.
 *
 * The names are those declared outside braces: variables, inlines, typedefs, tags with a body,
 * enumerators, and the output types of translators. Types are not looked up and control lines have
 * no effect, except that depends_on library is noted.
 *
 * An error of the lexer ends the scan: it will be reported when the library is compiled.
 */
#include "lang/compiler.h"

struct scan {
	const char *text;
	size_t len;
	dt_arena *tokens; /* for the lexer alone */
	struct dt_exports *out;
	int braces, parens, brackets;
	bool value;    /* after the '=' of a declaration */
	bool in_enum;  /* its braces hold names */
	int before[2]; /* the last token and the one before it */
};

static bool is_tag_word(int kind)
{
	return kind == T_STRUCT || kind == T_UNION || kind == T_ENUM;
}

/* Is the identifier that is current the one that is declared? `next` follows it. */
static bool is_declared(const struct scan *s, int next)
{
	int last = s->before[0];

	if (last == T_TRANSLATOR || (is_tag_word(last) && s->before[1] == T_TRANSLATOR))
		return true;
	if (s->value || s->brackets || last == T_PROVIDER)
		return false;
	if (s->braces == 1 && s->in_enum && s->parens == 0)
		return last == '{' || last == ',';
	if (s->braces)
		return false;
	if (s->parens) /* int (*f)(int) */
		return s->parens == 1 && last == '*' && (next == ')' || next == '[');
	if (is_tag_word(last))
		return next == '{';
	return next == ';' || next == ',' || next == '[' || next == '=';
}

static void count(struct scan *s, int kind)
{
	switch (kind) {
	case '{': s->braces++; break;
	case '}': s->braces--; break;
	case '(': s->parens++; break;
	case ')': s->parens--; break;
	case '[': s->brackets++; break;
	case ']': s->brackets--; break;
	case T_ENUM: s->in_enum |= s->braces == 0; break;
	case '=': s->value |= s->braces == 0; break;
	case ';':
		if (s->braces == 0)
			s->value = s->in_enum = false;
		break;
	default: break;
	}
	s->before[1] = s->before[0];
	s->before[0] = kind;
}

static void scan_tokens(dt_compiler *cc, void *arg)
{
	struct scan *s = arg;

	cc->exports = s->out;
	cc->arena = s->tokens;
	cc->macros = NULL; /* reading $1 does not count as a use */
	dt_lex_start(cc, s->text, s->len, LEX_EXPR);
	for (dt_lex_next(cc); cc->lex.tok.kind != T_EOF; dt_lex_next(cc)) {
		const dt_token *t = &cc->lex.tok;

		if (t->kind == T_IDENT && !t->module && is_declared(s, dt_lex_peek(cc, 0)->kind))
			dt_map_set(s->out->names, t->text, s->out);
		count(s, t->kind);
	}
}

void dt_exports_read(dt_compiler *cc, const char *text, size_t len, struct dt_exports *out)
{
	struct scan s = {.text = text, .len = len, .tokens = dt_arena_new(), .out = out};
	dt_error ignored;

	out->names = dt_map_new();
	out->depends = dt_map_new();
	dt_compile_run(cc, scan_tokens, &s, &ignored);
	dt_arena_free(s.tokens);
}

void dt_exports_free(struct dt_exports *e)
{
	dt_map_free(e->names);
	dt_map_free(e->depends);
}

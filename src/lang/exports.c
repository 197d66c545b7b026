/*
 * exports: what a library or module defines, found in its tokens without compiling it.
 *
 * The names are those declared outside braces: variables, inlines, typedefs, tags with a body,
 * enumerators, and the output types of translators. Types are not looked up and control lines have
 * no effect, except that depends_on library is noted.
 *
 * Of a module all names are noted in `own`, and which of them have the word `export` before their declaration: tags apart
 * from the others, and those of structs inside of structs as well. Its symbols of the kernel (extern) are not its own.
 *
 * An error of the lexer ends the scan: it will be reported when the library is compiled.
 */
#include "lang/compiler.h"

struct scan {
	const char *text;
	size_t len;
	dt_arena *tokens; /* for the lexer alone */
	struct dt_exports *out;
	dt_map *own; /* of a module; NULL: not wanted */
	int braces, parens, brackets;
	bool value;    /* after the '=' of a declaration */
	bool in_enum;  /* its braces hold names */
	bool exporting, is_extern, is_inline; /* the declaration begins so */
	bool is_function; /* inline name(...) { body } */
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
	if (s->own && is_tag_word(last) && next == '{')
		return true;
	if (s->braces == 1 && s->in_enum && s->parens == 0)
		return last == '{' || last == ',';
	if (s->braces)
		return false;
	if (s->parens) /* int (*f)(int) */
		return s->parens == 1 && last == '*' && (next == ')' || next == '[');
	if (is_tag_word(last))
		return next == '{';
	if (s->is_inline && !s->is_function && next == '(')
		return true;
	return next == ';' || next == ',' || next == '[' || next == '=';
}

static void end_declaration(struct scan *s)
{
	s->value = s->in_enum = s->exporting = s->is_extern = s->is_inline = s->is_function = false;
}

static void count(struct scan *s, int kind)
{
	switch (kind) {
	case '{': s->braces++; break;
	case '}':
		if (--s->braces == 0 && s->is_function)
			end_declaration(s);
		break;
	case '(':
		s->is_function |= s->is_inline && !s->braces && !s->value && !s->brackets && s->before[0] == T_IDENT;
		s->parens++;
		break;
	case ')': s->parens--; break;
	case '[': s->brackets++; break;
	case ']': s->brackets--; break;
	case T_ENUM: s->in_enum |= s->braces == 0; break;
	case '=': s->value |= s->braces == 0; break;
	case ';':
		if (s->braces == 0)
			end_declaration(s);
		break;
	case T_INLINE: s->is_inline |= s->braces == 0; break;
	case T_EXTERN: s->is_extern = true; break;
	default: break;
	}
	s->before[1] = s->before[0];
	s->before[0] = kind;
}

/* The translated type is defined elsewhere, or its own declaration says so. */
static void note_own(const struct scan *s, const dt_token *t)
{
	if (s->before[0] == T_TRANSLATOR || s->before[1] == T_TRANSLATOR || s->is_extern)
		return;
	dt_module_note(s->own, t->text, is_tag_word(s->before[0]) ? '.' : 0, s->exporting);
}

static void scan_token(struct scan *s, const dt_token *t, int next)
{
	if (t->kind == T_AGG && s->exporting && s->own && !s->braces)
		dt_module_note(s->own, t->text, '@', true);
	if (t->kind == T_IDENT && !t->module && !s->braces && !s->value && strcmp(t->text, "export") == 0)
		s->exporting = true;
	else if (t->kind == T_IDENT && !t->module && is_declared(s, next)) {
		dt_map_set(s->out->names, t->text, s->out);
		if (s->own)
			note_own(s, t);
	}
	count(s, t->kind);
}

static void scan_tokens(dt_compiler *cc, void *arg)
{
	struct scan *s = arg;

	cc->exports = s->out;
	cc->arena = s->tokens;
	cc->macros = NULL; /* reading $1 does not count as a use */
	dt_lex_start(cc, s->text, s->len, LEX_EXPR);
	for (dt_lex_next(cc); cc->lex.tok.kind != T_EOF; dt_lex_next(cc))
		scan_token(s, &cc->lex.tok, dt_lex_peek(cc, 0)->kind);
}

static void read_text(dt_compiler *cc, const char *text, size_t len, struct dt_exports *out, dt_map *own)
{
	struct scan s = {.text = text, .len = len, .out = out, .own = own};
	dt_error ignored;

	out->names = dt_map_new();
	out->depends = dt_map_new();
	/* a module will be compiled, and is small; most libraries will not */
	s.tokens = own ? dt_compiler_arena(cc) : dt_arena_new();
	dt_compile_run(cc, scan_tokens, &s, &ignored);
	if (!own)
		dt_arena_free(s.tokens);
}

void dt_exports_read(dt_compiler *cc, const char *text, size_t len, struct dt_exports *out)
{
	read_text(cc, text, len, out, NULL);
}

void dt_exports_of_module(dt_compiler *cc, const char *text, size_t len, dt_map *own)
{
	struct dt_exports unused;

	read_text(cc, text, len, &unused, own);
	dt_exports_free(&unused);
}

void dt_exports_free(struct dt_exports *e)
{
	dt_map_free(e->names);
	dt_map_free(e->depends);
}

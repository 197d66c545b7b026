/*
 * lex: text -> tokens.
 *
 * D has two vocabularies. Between clauses (LEX_OUTER) a word like profile-997hz or
 * syscall::open*:entry is one token, a probe description; inside clauses and declarations
 * (LEX_EXPR) the tokens are C's. The lexer changes to LEX_EXPR by itself at '{', at the '/' that
 * opens a predicate and at a word that begins a declaration. The parser changes back to LEX_OUTER
 * while the last token of a clause or declaration is current, before it asks for the next.
 *
 * Text that could be either a type or a description ("int*") is tried as a type first, except on
 * the command line and with -x pspec. Kernel types are looked up only when what follows cannot
 * follow a description, so that a plain script never loads BTF.
 *
 * A '/' ends a predicate when end of input, ';', '{' or '/' comes next; otherwise it divides.
 *
 * Headers of the C library come with GNU words. Those that mean nothing to us are passed over
 * here, so that the grammar need not know them.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "lang/compiler.h"
#include "lang/decl.h"

/* How far ahead a '`' is looked for that would make "a.out" a module name. */
#define MODULE_MAX 256

/* ---- words ---- */

enum { SKIP_WORD = -1, SKIP_PARENS = -2 };

struct word {
	const char *name;
	int token;
};

static const struct word words[] = {
    /* sorted */
    {"_Alignas", SKIP_PARENS},
    {"_Atomic", SKIP_WORD},
    {"_Complex", SKIP_WORD},
    {"_Noreturn", SKIP_WORD},
    {"_Static_assert", SKIP_PARENS},
    {"_Thread_local", SKIP_WORD},
    {"__asm", SKIP_PARENS},
    {"__asm__", SKIP_PARENS},
    {"__attribute", SKIP_PARENS},
    {"__attribute__", SKIP_PARENS},
    {"__builtin_offsetof", T_OFFSETOF},
    {"__const", T_CONST},
    {"__const__", T_CONST},
    {"__extension__", SKIP_WORD},
    {"__inline", T_INLINE},
    {"__inline__", T_INLINE},
    {"__restrict", T_RESTRICT},
    {"__restrict__", T_RESTRICT},
    {"__signed", T_SIGNED},
    {"__signed__", T_SIGNED},
    {"__thread", SKIP_WORD},
    {"__volatile", T_VOLATILE},
    {"__volatile__", T_VOLATILE},
    {"auto", T_AUTO},
    {"break", T_BREAK},
    {"case", T_CASE},
    {"char", T_CHAR},
    {"const", T_CONST},
    {"continue", T_CONTINUE},
    {"counter", T_COUNTER},
    {"default", T_DEFAULT},
    {"do", T_DO},
    {"double", T_DOUBLE},
    {"else", T_ELSE},
    {"enum", T_ENUM},
    {"extern", T_EXTERN},
    {"float", T_FLOAT},
    {"for", T_FOR},
    {"goto", T_GOTO},
    {"if", T_IF},
    {"import", T_IMPORT},
    {"inline", T_INLINE},
    {"int", T_KW_INT},
    {"long", T_LONG},
    {"offsetof", T_OFFSETOF},
    {"probe", T_PROBE},
    {"provider", T_PROVIDER},
    {"register", T_REGISTER},
    {"restrict", T_RESTRICT},
    {"return", T_RETURN},
    {"self", T_SELF},
    {"short", T_SHORT},
    {"signed", T_SIGNED},
    {"sizeof", T_SIZEOF},
    {"static", T_STATIC},
    {"string", T_KW_STRING},
    {"stringof", T_STRINGOF},
    {"struct", T_STRUCT},
    {"switch", T_SWITCH},
    {"this", T_THIS},
    {"translator", T_TRANSLATOR},
    {"typedef", T_TYPEDEF},
    {"union", T_UNION},
    {"unsigned", T_UNSIGNED},
    {"userland", T_USERLAND},
    {"void", T_VOID},
    {"volatile", T_VOLATILE},
    {"while", T_WHILE},
    {"xlate", T_XLATE},
};

static int find_word(const char *s, size_t len)
{
	size_t lo = 0, hi = DT_NELEM(words);

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		int c = strncmp(s, words[mid].name, len);
		if (c == 0 && words[mid].name[len] == '\0')
			return words[mid].token;
		if (c > 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return 0;
}

int dt_keyword(const char *word, size_t len)
{
	int token = find_word(word, len);

	return token > 0 ? token : 0;
}

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

static bool is_ident_start(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static bool is_ident_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* ---- positions ---- */

dt_pos dt_lex_pos(const dt_compiler *cc)
{
	const dt_lexer *lx = &cc->lex;

	return (dt_pos){lx->file, lx->line, (uint32_t)(lx->p - lx->line_start) + 1};
}

/* Step over the newline at lex.p. */
static void newline(dt_lexer *lx)
{
	lx->line_start = ++lx->p;
	lx->line++;
}

bool dt_lex_included(const dt_compiler *cc)
{
	const dt_lexer *lx = &cc->lex;

	if (!lx->file)
		return false;
	if (lx->has_marker_flags)
		return lx->include_depth > 0;
	return strcmp(lx->file, lx->main_file) != 0 &&
	       !(cc->src && cc->src->name && strcmp(lx->file, cc->src->name) == 0);
}

/* Is this line `# 12 "file"` or `#line 12 "file"`? The name stays in place. */
static bool is_marker(const char *s, const char *eol, uint32_t *line, const char **name,
		      size_t *len)
{
	uint64_t n = 0;
	const char *q;

	while (s < eol && is_blank(*s))
		s++;
	if (s == eol || *s++ != '#')
		return false;
	while (s < eol && is_blank(*s))
		s++;
	if (eol - s > 5 && memcmp(s, "line ", 5) == 0)
		s += 5;
	if (s == eol || !isdigit((unsigned char)*s))
		return false;
	for (; s < eol && isdigit((unsigned char)*s) && n < UINT32_MAX; s++)
		n = n * 10 + (uint64_t)(*s - '0');
	*line = (uint32_t)n;
	*name = NULL;
	while (s < eol && is_blank(*s))
		s++;
	if (s < eol && *s == '"' && (q = memchr(s + 1, '"', (size_t)(eol - s - 1)))) {
		*name = s + 1;
		*len = (size_t)(q - s - 1);
	}
	return true;
}

/* Walks the text again instead of remembering every marker: this happens once, for an error. */
void dt_lex_source_line(dt_compiler *cc, dt_pos pos, char *out, size_t n)
{
	const char *s = cc->lex.text, *end = cc->lex.end, *file = NULL, *name;
	size_t file_len = 0, len = 0;
	uint32_t line = 1, to;

	out[0] = '\0';
	while (s && pos.line && s < end) {
		const char *eol = memchr(s, '\n', (size_t)(end - s));
		if (!eol)
			eol = end;
		bool same = !file || !pos.file ? !file && !pos.file
					       : strlen(pos.file) == file_len &&
						     memcmp(file, pos.file, file_len) == 0;
		/* one line may have been cut into several pieces, with markers between them */
		if (line == pos.line && same && (size_t)(eol - s) + 1 >= pos.column) {
			size_t k = (size_t)(eol - s) < n - 1 ? (size_t)(eol - s) : n - 1;
			memcpy(out, s, k);
			out[k] = '\0';
			return;
		}
		if (is_marker(s, eol, &to, &name, &len)) {
			line = to;
			if (name) {
				file = name;
				file_len = len;
			}
		} else {
			line++;
		}
		s = eol + 1;
	}
}

/* ---- blanks, comments, control lines ---- */

static void skip_comment(dt_compiler *cc)
{
	dt_lexer *lx = &cc->lex;
	dt_pos pos = dt_lex_pos(cc);

	for (lx->p += 2; lx->p < lx->end;) {
		if (lx->p[0] == '*' && lx->end - lx->p > 1 && lx->p[1] == '/') {
			lx->p += 2;
			return;
		}
		if (lx->p[0] == '/' && lx->end - lx->p > 1 && lx->p[1] == '*')
			dt_fail(cc, dt_lex_pos(cc), D_SYNTAX,
				"/* inside a comment: comments do not nest");
		if (*lx->p == '\n')
			newline(lx);
		else
			lx->p++;
	}
	dt_fail(cc, pos, D_SYNTAX, "this comment has no end near end of input");
}

static bool at_line_start(const dt_lexer *lx)
{
	const char *s = lx->p;

	while (s > lx->line_start && is_blank(s[-1]))
		s--;
	return s == lx->line_start;
}

/* Where the control line at p ends: at its newline, or where a comment begins that goes on to the
 * next line. A backslash before the newline joins the next line to it. */
static const char *control_end(const dt_lexer *lx)
{
	bool quoted = false;

	for (const char *s = lx->p; s < lx->end; s++) {
		if (*s == '\n' && s[-1] != '\\')
			return s;
		if (*s == '"')
			quoted = !quoted;
		if (!quoted && *s == '/' && s + 1 < lx->end && s[1] == '*') {
			const char *eol = memchr(s, '\n', (size_t)(lx->end - s));
			const char *close = memmem(s + 2, (size_t)(lx->end - s) - 2, "*/", 2);
			if (!close || (eol && eol < close))
				return s;
			s = close + 1;
		}
	}
	return lx->end;
}

static void control_line(dt_compiler *cc)
{
	dt_lexer *lx = &cc->lex;
	const char *end = control_end(lx);

	if (!(lx->p == lx->text && lx->end - lx->p > 1 && lx->p[1] == '!'))
		dt_control_line(cc, lx->p + 1, (size_t)(end - lx->p - 1));
	while (lx->p < end) {
		if (*lx->p == '\n')
			newline(lx);
		else
			lx->p++;
	}
}

static void skip_blanks(dt_compiler *cc)
{
	dt_lexer *lx = &cc->lex;

	while (lx->p < lx->end) {
		char c = *lx->p, d = lx->end - lx->p > 1 ? lx->p[1] : '\0';

		if (is_blank(c)) {
			lx->p++;
		} else if (c == '\n') {
			newline(lx);
		} else if (c == '\\' && d == '\n') {
			lx->p++;
			newline(lx);
		} else if (c == '\\' && d == '\r' && lx->end - lx->p > 2 && lx->p[2] == '\n') {
			lx->p += 2;
			newline(lx);
		} else if (c == '/' && d == '*') {
			skip_comment(cc);
		} else if (c == '/' && d == '/') {
			const char *eol = memchr(lx->p, '\n', (size_t)(lx->end - lx->p));
			lx->p = eol ? eol : lx->end;
		} else if (c == '#' && at_line_start(lx)) {
			control_line(cc);
		} else {
			break;
		}
	}
}

/* The next character that is neither blank nor comment nor in a control line; nothing moves.
 * '\0': end of input. */
static char next_visible(const dt_lexer *lx, const char *s)
{
	bool line_start = false;

	while (s < lx->end) {
		if (is_blank(*s) || *s == '\n') {
			line_start |= *s++ == '\n';
		} else if (*s == '#' && line_start) {
			s = memchr(s, '\n', (size_t)(lx->end - s));
			if (!s)
				return '\0';
		} else if (*s == '/' && lx->end - s > 1 && s[1] == '*') {
			s = memmem(s + 2, (size_t)(lx->end - s) - 2, "*/", 2);
			if (!s)
				return '\0';
			s += 2;
		} else if (*s == '/' && lx->end - s > 1 && s[1] == '/') {
			s = memchr(s, '\n', (size_t)(lx->end - s));
			if (!s)
				return '\0';
		} else {
			return *s;
		}
	}
	return '\0';
}

/* ---- text that is passed over unread: attributes, bodies of C functions ---- */

static void skip_quoted(dt_lexer *lx)
{
	char quote = *lx->p++;

	while (lx->p < lx->end && *lx->p != quote && *lx->p != '\n')
		lx->p += *lx->p == '\\' && lx->end - lx->p > 1 ? 2 : 1;
	if (lx->p < lx->end && *lx->p == quote)
		lx->p++;
	if (lx->p > lx->end)
		lx->p = lx->end;
}

static void note_attribute(dt_lexer *lx, const char *word, size_t len)
{
	if ((len == 6 && memcmp(word, "packed", 6) == 0) ||
	    (len == 10 && memcmp(word, "__packed__", 10) == 0))
		lx->packed = true;
	if ((len == 7 && memcmp(word, "aligned", 7) == 0) ||
	    (len == 11 && memcmp(word, "__aligned__", 11) == 0)) {
		const char *s = word + len;
		uint32_t n = 0;
		while (s < lx->end && (is_blank(*s) || *s == '('))
			s++;
		for (; s < lx->end && isdigit((unsigned char)*s) && n < 1 << 16; s++)
			n = n * 10 + (uint32_t)(*s - '0');
		if (n && (n & (n - 1)) == 0)
			lx->aligned = n;
	}
}

/* Pass over everything up to and including `close` where the nesting is as at the start. */
static void skip_to(dt_compiler *cc, char close)
{
	dt_lexer *lx = &cc->lex;
	dt_pos pos = dt_lex_pos(cc);
	long nesting = 0;

	for (;;) {
		skip_blanks(cc);
		if (lx->p >= lx->end)
			dt_fail(cc, pos, D_SYNTAX, "expected %c near end of input", close);
		char c = *lx->p;
		if (is_ident_start(c)) {
			const char *word = lx->p;
			while (lx->p < lx->end && is_ident_char(*lx->p))
				lx->p++;
			note_attribute(lx, word, (size_t)(lx->p - word));
			continue;
		}
		if (c == '"' || c == '\'') {
			skip_quoted(lx);
			continue;
		}
		lx->p++;
		if (c == close && nesting == 0)
			return;
		if (strchr("([{", c))
			nesting++;
		else if (strchr(")]}", c))
			nesting--;
	}
}

void dt_lex_skip_block(dt_compiler *cc, int close)
{
	skip_to(cc, (char)close);
	cc->lex.tok = (dt_token){.kind = close, .pos = dt_lex_pos(cc)};
	cc->lex.tok.pos.column--;
}

static void skip_word(dt_compiler *cc, int how, size_t len)
{
	dt_lexer *lx = &cc->lex;

	lx->p += len;
	if (how != SKIP_PARENS)
		return;
	skip_blanks(cc);
	if (lx->p < lx->end && *lx->p == '(') {
		lx->p++;
		skip_to(cc, ')');
	}
}

/* ---- tokens inside expressions ---- */

_Noreturn static void bad_character(dt_compiler *cc)
{
	unsigned char c = (unsigned char)*cc->lex.p;

	if (isprint(c))
		dt_fail(cc, dt_lex_pos(cc), D_SYNTAX, "invalid character '%c'", c);
	dt_fail(cc, dt_lex_pos(cc), D_SYNTAX, "invalid character '\\x%02x'", c);
}

static const struct {
	char text[4];
	int token;
} operators[] = {
    /* longest first */
    {"...", T_ELLIPSIS}, {"<<=", T_SHL_EQ}, {">>=", T_SHR_EQ}, {"->", T_ARROW},	 {"++", T_INC},
    {"--", T_DEC},	 {"<<", T_SHL},	    {">>", T_SHR},     {"<=", T_LE},	 {">=", T_GE},
    {"==", T_EQ},	 {"!=", T_NE},	    {"&&", T_ANDAND},  {"^^", T_XORXOR}, {"||", T_OROR},
    {"+=", T_ADD_EQ},	 {"-=", T_SUB_EQ},  {"*=", T_MUL_EQ},  {"/=", T_DIV_EQ}, {"%=", T_MOD_EQ},
    {"&=", T_AND_EQ},	 {"^=", T_XOR_EQ},  {"|=", T_OR_EQ},
};

static int find_operator(const char *s, size_t left, size_t *len)
{
	if (left > 1 && strchr("=+-&|^<>.", s[1]))
		for (size_t i = 0; i < DT_NELEM(operators); i++) {
			*len = strlen(operators[i].text);
			if (*len <= left && memcmp(s, operators[i].text, *len) == 0)
				return operators[i].token;
		}
	*len = 1;
	return *s && strchr("(){}[],;.=+-*/%&|^~!<>?:", *s) ? *s : 0;
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

static void lex_operator(dt_compiler *cc, dt_token *t)
{
	dt_lexer *lx = &cc->lex;
	size_t len;

	t->kind = find_operator(lx->p, (size_t)(lx->end - lx->p), &len);
	if (t->kind == 0)
		bad_character(cc);
	count_nesting(lx, t->kind);
	lx->p += len;
}

/* Does the '/' at p end the predicate? */
static bool is_predicate_end(const dt_lexer *lx)
{
	char next = lx->in_predicate ? next_visible(lx, lx->p + 1) : 'x';

	return next == '\0' || next == ';' || next == '{' || next == '/';
}

/* In a predicate "//" begins a comment, except where its first slash is the closing one and the
 * second begins a comment itself: "x//\* c *\/", "x/// c". skip_blanks() must not see those. */
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

/* The last '`' of mod`sym, LM1`lib`sym, pid12`a.out`sym at p, or NULL when there is none. */
static const char *last_backquote(const dt_lexer *lx)
{
	const char *s = lx->p, *last = NULL, *limit = s + MODULE_MAX;

	while (s < lx->end && s < limit && (is_ident_char(*s) || *s == '.' || *s == '`')) {
		if (*s == '`' && s + 1 < lx->end && is_ident_start(s[1]))
			last = s;
		s++;
	}
	return last;
}

static void lex_word(dt_compiler *cc, dt_token *t)
{
	dt_lexer *lx = &cc->lex;
	const char *quote = last_backquote(lx), *start = quote ? quote + 1 : lx->p;
	size_t len = ident_len(lx, start);
	int keyword = dt_keyword(start, len);

	if (quote) {
		t->module = dt_arena_strndup(cc->arena, lx->p, (size_t)(quote - lx->p));
		if (keyword != T_STRUCT && keyword != T_UNION && keyword != T_ENUM)
			keyword = 0;
	}
	t->kind = keyword ? keyword : T_IDENT;
	t->text = dt_arena_strndup(cc->arena, start, len);
	t->len = (uint32_t)len;
	lx->p = start + len;
}

static void lex_aggregation(dt_compiler *cc, dt_token *t)
{
	dt_lexer *lx = &cc->lex;
	size_t len = ident_len(lx, ++lx->p);

	t->kind = T_AGG;
	t->text = len ? dt_arena_strndup(cc->arena, lx->p, len) : "_";
	t->len = (uint32_t)strlen(t->text);
	lx->p += len;
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
	skip_blanks(cc);
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

static void lex_expr(dt_compiler *cc, dt_token *t)
{
	dt_lexer *lx = &cc->lex;
	int how;
	size_t len;

again:
	if (!closes_before_comment(lx))
		skip_blanks(cc);
	memset(t, 0, sizeof(*t));
	t->pos = dt_lex_pos(cc);
	if (lx->p >= lx->end)
		return;
	char c = *lx->p, d = lx->end - lx->p > 1 ? lx->p[1] : '\0';
	if (is_ident_start(c)) {
		len = ident_len(lx, lx->p);
		how = find_word(lx->p, len);
		if (how < 0) {
			skip_word(cc, how, len);
			goto again;
		}
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
	} else if (c == '/' && (closes_before_comment(lx) || is_predicate_end(lx))) {
		end_predicate(cc);
		t->kind = T_PRED_CLOSE;
		lx->p++;
	} else {
		lex_operator(cc, t);
	}
}

/* ---- tokens between clauses ---- */

static size_t description_len(const dt_lexer *lx)
{
	const char *s = lx->p;

	while (s < lx->end && (isalnum((unsigned char)*s) || (*s && strchr("-$:_.?*\\[]!", *s)) ||
			       (*s == '`' && s > lx->p))) {
		if (*s == '\\' && lx->end - s > 1 && (s[1] == '\n' || s[1] == '\r'))
			break;
		s++;
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
	return dt_named_type(cc, module, dt_arena_strndup(cc->arena, word, len), kernel) != NULL;
}

/* Does the text at p, which has the form of a description, begin a declaration? What may follow a
 * description is ',' '/' '{' and, on the command line, ';' or the end; so a name or a '*' after it
 * settles the question, and only then is the kernel asked. */
static bool begins_declaration(dt_compiler *cc, size_t len, bool forced)
{
	const dt_lexer *lx = &cc->lex;
	const char *text = lx->p, *end = text + len, *s = text;
	char next = next_visible(lx, end);

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

static void lex_outer(dt_compiler *cc, dt_token *t)
{
	dt_lexer *lx = &cc->lex;
	bool forced =
	    lx->tok.kind == ',' || (cc->src && cc->src->is_cmdline) || dt_opt(cc->opts, DT_O_PSPEC);
	int how;
	size_t len;

again:
	skip_blanks(cc);
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
		lex_operator(cc, t);
		if (t->kind == '{')
			lx->mode = LEX_EXPR;
		return;
	}
	how = find_word(lx->p, len);
	if (how < 0) {
		skip_word(cc, how, len);
		goto again;
	}
	if (lx->tok.kind != ',' && begins_declaration(cc, len, forced)) {
		lx->mode = LEX_EXPR;
		lex_expr(cc, t);
		return;
	}
	t->kind = T_PSPEC;
	t->text = dt_arena_strndup(cc->arena, lx->p, len);
	t->len = (uint32_t)len;
	lx->p += len;
}

/* ---- what the parser calls ---- */

void dt_lex_start(dt_compiler *cc, const char *text, size_t len, enum dt_lexmode mode)
{
	const char *nul = memchr(text, '\0', len);

	cc->lex = (dt_lexer){.text = text,
			     .p = text,
			     .end = text + len,
			     .line = 1,
			     .line_start = text,
			     .mode = mode};
	if (!nul)
		return;
	for (; cc->lex.p < nul;) {
		if (*cc->lex.p == '\n')
			newline(&cc->lex);
		else
			cc->lex.p++;
	}
	dt_fail(cc, dt_lex_pos(cc), D_SYNTAX, "the program contains a NUL byte");
}

static void lex_token(dt_compiler *cc, dt_token *t)
{
	if (cc->lex.mode == LEX_OUTER)
		lex_outer(cc, t);
	else
		lex_expr(cc, t);
}

void dt_lex_next(dt_compiler *cc)
{
	dt_lexer *lx = &cc->lex;
	dt_token t;

	if (lx->nahead == 0) {
		lex_token(cc, &t);
		lx->tok = t;
		return;
	}
	lx->tok = lx->ahead[0];
	lx->nahead--;
	memmove(&lx->ahead[0], &lx->ahead[1], (size_t)lx->nahead * sizeof(lx->ahead[0]));
}

const dt_token *dt_lex_peek(dt_compiler *cc, int n)
{
	dt_lexer *lx = &cc->lex;

	while (lx->nahead <= n) {
		lex_token(cc, &lx->ahead[lx->nahead]);
		lx->nahead++;
	}
	return &lx->ahead[n];
}

static const char *kind_text(int kind, char one[2])
{
	if (kind > 0 && kind < 256) {
		one[0] = (char)kind;
		one[1] = '\0';
		return one;
	}
	if (kind == T_PRED_OPEN || kind == T_PRED_CLOSE)
		return "/";
	for (size_t i = 0; i < DT_NELEM(operators); i++)
		if (operators[i].token == kind)
			return operators[i].text;
	return "?";
}

const char *dt_tok_name(const dt_token *t, dt_buf *scratch)
{
	uint32_t len = t->len < 60 ? t->len : 60;
	char one[2];

	dt_buf_reset(scratch);
	if (t->kind == T_STRING) {
		dt_buf_putc(scratch, '"');
		dt_buf_escape(scratch, t->text, len);
		dt_buf_putc(scratch, '"');
	} else if (t->text) {
		if (t->module)
			dt_buf_printf(scratch, "%.60s`", t->module);
		if (t->kind == T_AGG)
			dt_buf_putc(scratch, '@');
		dt_buf_add(scratch, t->text, len);
	} else {
		dt_buf_puts(scratch, kind_text(t->kind, one));
	}
	return scratch->s;
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

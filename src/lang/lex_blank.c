/*
 * lex_blank: the text between tokens: blanks, comments, control lines; and positions.
 *
 * Also skipped text: attributes, and bodies of functions in C headers.
 */
#include "lang/lex.h"

/* ---- positions ---- */

dt_pos dt_lex_pos(const dt_compiler *cc)
{
	const dt_lexer *lx = &cc->lex;

	return (dt_pos){lx->file, lx->line, (uint32_t)(lx->p - lx->line_start) + 1};
}

void dt_lex_newline(dt_lexer *lx)
{
	lx->line_start = ++lx->p;
	lx->line++;
}

bool dt_lex_included(const dt_compiler *cc)
{
	const dt_lexer *lx = &cc->lex;

	if (!lx->file || !lx->main_file)
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

/* Scans the text again instead of remembering every marker: this happens only once, for an error. */
void dt_lex_source_line(dt_compiler *cc, dt_pos pos, char *out, size_t n)
{
	const char *s = cc->lex.text, *end = cc->lex.end, *file = cc->lex.first_file, *name;
	size_t file_len = file ? strlen(file) : 0, len = 0;
	uint32_t line = 1, to;

	out[0] = '\0';
	while (s && pos.line && s < end) {
		const char *eol = memchr(s, '\n', (size_t)(end - s));
		if (!eol)
			eol = end;
		bool same = !file || !pos.file ? !file && !pos.file
					       : strlen(pos.file) == file_len &&
						     memcmp(file, pos.file, file_len) == 0;
		/* one line may have been split into several pieces, with markers between them */
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
			dt_lex_newline(lx);
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
			dt_lex_newline(lx);
		else
			lx->p++;
	}
}

void dt_lex_skip_blanks(dt_compiler *cc)
{
	dt_lexer *lx = &cc->lex;

	while (lx->p < lx->end) {
		char c = *lx->p, d = lx->end - lx->p > 1 ? lx->p[1] : '\0';

		if (is_blank(c)) {
			lx->p++;
		} else if (c == '\n') {
			dt_lex_newline(lx);
		} else if (c == '\\' && d == '\n') {
			lx->p++;
			dt_lex_newline(lx);
		} else if (c == '\\' && d == '\r' && lx->end - lx->p > 2 && lx->p[2] == '\n') {
			lx->p += 2;
			dt_lex_newline(lx);
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

char dt_lex_next_visible(const dt_lexer *lx, const char *s)
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

/* ---- skipped text: attributes, bodies of C functions ---- */

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

/* Skip everything up to and including `close` at the nesting level of the start. */
static void skip_to(dt_compiler *cc, char close)
{
	dt_lexer *lx = &cc->lex;
	dt_pos pos = dt_lex_pos(cc);
	long nesting = 0;

	for (;;) {
		dt_lex_skip_blanks(cc);
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

void dt_lex_skip_word(dt_compiler *cc, int how, size_t len)
{
	dt_lexer *lx = &cc->lex;

	lx->p += len;
	if (how != SKIP_PARENS)
		return;
	dt_lex_skip_blanks(cc);
	if (lx->p < lx->end && *lx->p == '(') {
		lx->p++;
		skip_to(cc, ')');
	}
}

/*
 * lex: shared by the files of the lexer (lex*.c) only.
 */
#ifndef DT_LEX_H
#define DT_LEX_H

#include <ctype.h>

#include "lang/compiler.h"

static inline bool is_ident_start(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static inline bool is_ident_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static inline bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* ---- lex_word.c ---- */
/* What a word is: a keyword's token, 0 for an identifier, or one of these: a word of GNU C that is
 * skipped, alone or with the parentheses after it. */
enum { SKIP_WORD = -1, SKIP_PARENS = -2 };
int dt_lex_find_word(const char *s, size_t len);
/* The longest operator or punctuation at s, 0 if there is none. */
int dt_lex_find_operator(const char *s, size_t left, size_t *len);

/* ---- lex_blank.c ---- */
void dt_lex_newline(dt_lexer *lx);	  /* step over the newline at p */
void dt_lex_skip_blanks(dt_compiler *cc); /* blanks, comments; control lines take effect */
/* The next character that is neither blank nor comment nor in a control line; does not advance.
 * '\0': end of input. */
char dt_lex_next_visible(const dt_lexer *lx, const char *s);
void dt_lex_skip_word(dt_compiler *cc, int how, size_t len); /* how: SKIP_* */

/* ---- lex.c, lex_outer.c: one token of each mode ---- */
const char *dt_lex_after_process(const dt_lexer *lx, const char *s);
void dt_lex_expr(dt_compiler *cc, dt_token *t);
void dt_lex_outer(dt_compiler *cc, dt_token *t);
void dt_lex_operator(dt_compiler *cc, dt_token *t);
/* Does the word of this length at p begin "import name" or, as the first of the text, "module name"? T_IMPORT, T_MODULE, 0 */
int dt_lex_reference(const dt_lexer *lx, size_t len);

#endif

/*
 * value_text: a typed value as one short line of text, for the tables of --top and --serve.
 *
 * The text is cut where the buffer ends. Bytes of strings are copied unchanged: the caller escapes what is special where
 * it shows them.
 */
#ifndef CMD_VALUE_TEXT_H
#define CMD_VALUE_TEXT_H

#include "dtrace.h"

struct text {
	char s[400]; /* NUL-terminated */
	size_t n;
};

void text_string(struct text *t, const char *s);
/* A stack or symbol is "innermost < its caller < ...", that many frames. */
void text_value(struct text *t, const dtrace_value_t *v, unsigned frames);

#endif

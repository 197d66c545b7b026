/*
 * sub_lex: the tokens of the subroutine language (sub.c), and what is said about a wrong one.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "bpf/code/sub_private.h"

void dt_sub_fail(dt_sub *lib, const char *text)
{
	lib->failed = true;
	lib->fail(lib->arg, text);
}

void dt_sub_bad(struct sub *s, const char *what)
{
	char text[120];

	snprintf(text, sizeof(text), "internal: subroutine text: %s near \"%.20s\"", what, s->p);
	dt_sub_fail(s->lib, text);
	s->kind = END;
}

/* ---- tokens ---- */

void dt_sub_next(struct sub *s)
{
	uint32_t n = 0;

	while (isspace((unsigned char)*s->p))
		s->p++;
	s->op[0] = s->op[1] = s->op[2] = s->name[0] = 0;
	if (s->lib->failed || !*s->p) {
		s->kind = END;
	} else if (isalpha((unsigned char)*s->p) || *s->p == '_') {
		s->kind = NAME;
		for (; isalnum((unsigned char)*s->p) || *s->p == '_'; s->p++)
			if (n < NAME_MAX_LEN)
				s->name[n++] = *s->p;
		s->name[n] = 0;
	} else if (isdigit((unsigned char)*s->p)) {
		s->kind = NUM;
		s->num = strtoull(s->p, (char **)&s->p, 0);
	} else if (*s->p == '\'') {
		s->kind = NUM;
		s->num = (uint8_t)s->p[1];
		s->p += 2;
		if (s->num == '\\') {
			s->num = *s->p == 'n'	? '\n'
				 : *s->p == 't' ? '\t'
				 : *s->p == 'r' ? '\r'
						: (uint8_t)*s->p;
			s->p++;
		}
		s->p++;
	} else {
		static const char *const two[] = {"==", "!=", "<=", ">=", "&&", "||", "<<", ">>"};

		s->kind = PUNCT;
		s->op[0] = *s->p++;
		for (size_t i = 0; i < DT_NELEM(two); i++)
			if (s->op[0] == two[i][0] && *s->p == two[i][1]) {
				s->op[1] = *s->p++;
				break;
			}
	}
}

bool dt_sub_is(const struct sub *s, const char *op)
{
	return s->kind == PUNCT && strcmp(s->op, op) == 0;
}

bool dt_sub_is_word(const struct sub *s, const char *w)
{
	return s->kind == NAME && strcmp(s->name, w) == 0;
}

bool dt_sub_take(struct sub *s, const char *op)
{
	if (!dt_sub_is(s, op))
		return false;
	dt_sub_next(s);
	return true;
}

void dt_sub_expect(struct sub *s, const char *op)
{
	if (!dt_sub_take(s, op))
		dt_sub_bad(s, op);
}

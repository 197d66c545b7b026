/*
 * lex_const: integer, character and string constants.
 *
 * Types of integer constants follow C99 on LP64; there are no floating-point constants in D.
 * Escapes are undone by dt_unescape() (base); printing does the reverse.
 */
#include <ctype.h>
#include <limits.h>

#include "lang/compiler.h"

/* ---- integers ---- */

/* The candidates in C99's order; a row is skipped when the suffix asks for more, and an unsigned
 * one when the constant is decimal without u. */
dt_type *dt_int_constant_type(dt_compiler *cc, uint64_t v, bool decimal, bool is_unsigned,
			      int nlong)
{
	const struct dt_intrinsics *in = dt_intrinsics(cc->types);
	const struct {
		dt_type *type;
		uint64_t max;
		bool is_unsigned;
		int nlong;
	} rows[] = {
	    {in->int_, INT_MAX, false, 0},    {in->uint, UINT_MAX, true, 0},
	    {in->long_, LONG_MAX, false, 1},  {in->ulong, ULONG_MAX, true, 1},
	    {in->llong, LLONG_MAX, false, 2}, {in->ullong, ULLONG_MAX, true, 2},
	};

	for (size_t i = 0; i < DT_NELEM(rows); i++)
		if (v <= rows[i].max && rows[i].nlong >= nlong &&
		    (is_unsigned ? rows[i].is_unsigned : !rows[i].is_unsigned || !decimal))
			return rows[i].type;
	return in->ullong; /* a decimal beyond long long */
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

static void reject_float(dt_compiler *cc, dt_pos pos, const char *s, bool hex)
{
	const dt_lexer *lx = &cc->lex;
	bool exponent = !hex && s < lx->end && (*s == 'e' || *s == 'E') && lx->end - s > 1 &&
			(isdigit((unsigned char)s[1]) || s[1] == '+' || s[1] == '-');

	if (exponent || (s < lx->end && *s == '.'))
		dt_fail(cc, pos, D_SYNTAX, "floating-point constants are not part of D");
}

/* u before or after l or ll, in any case. Returns the end of the suffix. */
static const char *read_suffix(dt_compiler *cc, dt_pos pos, const char *s, bool *is_unsigned,
			       int *nlong)
{
	const dt_lexer *lx = &cc->lex;
	const char *start = s;
	int nunsigned = 0;

	while (s < lx->end && (isalnum((unsigned char)*s) || *s == '_')) {
		if (*s == 'u' || *s == 'U')
			nunsigned++;
		else if ((*s == 'l' || *s == 'L') && (!*nlong || (s[-1] | 0x20) == 'l'))
			(*nlong)++;
		else
			nunsigned = 9;
		s++;
	}
	if (nunsigned > 1 || *nlong > 2)
		dt_fail(cc, pos, D_SYNTAX, "invalid suffix \"%.*s\" on an integer constant",
			(int)(s - start > 40 ? 40 : s - start), start);
	*is_unsigned = nunsigned == 1;
	return s;
}

void dt_lex_number(dt_compiler *cc, dt_token *t)
{
	dt_lexer *lx = &cc->lex;
	const char *s = lx->p;
	uint64_t base = 10, v = 0;
	bool overflow = false, is_unsigned = false, bad_digit = false;
	int nlong = 0;

	if (*s == '0' && lx->end - s > 1 && (s[1] == 'x' || s[1] == 'X')) {
		base = 16;
		s += 2;
		bad_digit = s >= lx->end || digit_value(*s) > 15;
	} else if (*s == '0') {
		base = 8;
	}
	for (; s < lx->end && (uint64_t)digit_value(*s) < (base == 16 ? 16 : 10); s++) {
		uint64_t d = (uint64_t)digit_value(*s);
		bad_digit |= d >= base;
		overflow |= v > (UINT64_MAX - d) / base;
		v = v * base + d;
	}
	reject_float(cc, t->pos, s, base == 16);
	if (bad_digit)
		dt_fail(cc, t->pos, D_INT_DIGIT, "\"%.*s\" is not a valid %s constant",
			(int)(s - lx->p > 40 ? 40 : s - lx->p), lx->p,
			base == 16 ? "hexadecimal" : "octal");
	if (overflow)
		dt_fail(cc, t->pos, D_INT_OFLOW, "integer constant %.*s does not fit in 64 bits",
			(int)(s - lx->p > 80 ? 80 : s - lx->p), lx->p);
	s = read_suffix(cc, t->pos, s, &is_unsigned, &nlong);
	t->kind = T_INT;
	t->ival = v;
	t->type = dt_int_constant_type(cc, v, base == 10, is_unsigned, nlong);
	t->text = lx->p;
	t->len = (uint32_t)(s - lx->p);
	lx->p = s;
}

/* ---- characters and strings ---- */

/* From the opening quote at p to after the closing one; the body, escapes still in it, is copied.
 * A backslash before a newline joins the lines. */
static char *read_quoted(dt_compiler *cc, dt_pos pos, size_t *len)
{
	dt_lexer *lx = &cc->lex;
	char quote = *lx->p;
	const char *s = lx->p + 1;
	bool is_char = quote == '\'';

	for (; s < lx->end && *s != quote && *s != '\n'; s++)
		if (*s == '\\' && lx->end - s > 1) {
			s++;
			if (*s == '\n') {
				lx->line++;
				lx->line_start = s + 1;
			}
		}
	if (s >= lx->end)
		dt_fail(cc, pos, D_SYNTAX, "this %s constant has no closing %c near end of input",
			is_char ? "character" : "string", quote);
	if (*s == '\n')
		dt_fail(cc, pos, is_char ? D_CHR_NL : D_STR_NL,
			"newline in a %s constant; it has no closing %c",
			is_char ? "character" : "string", quote);
	size_t n = 0;
	char *out = dt_arena_alloc(cc->arena, (size_t)(s - lx->p));
	for (const char *q = lx->p + 1; q < s; q++) {
		if (*q == '\\' && q[1] == '\n') {
			q++;
			continue;
		}
		out[n++] = *q;
		if (*q == '\\')
			out[n++] = *++q;
	}
	lx->p = s + 1;
	*len = n;
	return out;
}

void dt_lex_string(dt_compiler *cc, dt_token *t)
{
	size_t len;
	char *s = read_quoted(cc, dt_lex_pos(cc), &len);

	len = dt_unescape(s, len);
	s[len] = '\0';
	t->kind = T_STRING;
	t->text = s;
	t->len = (uint32_t)len;
}

/* One character is a (signed) char; more are packed, the first in the highest byte. \' is two: it only keeps the
 * quote from ending the constant. */
void dt_lex_char(dt_compiler *cc, dt_token *t)
{
	const struct dt_intrinsics *in = dt_intrinsics(cc->types);
	const char *start = cc->lex.p;
	size_t len;
	char *s = read_quoted(cc, t->pos, &len);

	len = dt_unescape(s, len);
	if (len == 0)
		dt_fail(cc, t->pos, D_CHR_NULL, "empty character constant");
	if (len > sizeof(uint64_t))
		dt_fail(cc, t->pos, D_CHR_OFLOW,
			"character constant of %zu characters does not fit in an integer", len);
	t->kind = T_INT;
	for (size_t i = 0; i < len; i++)
		t->ival = t->ival << 8 | (unsigned char)s[i];
	if (len == 1)
		t->ival = (uint64_t)(int64_t)(int8_t)t->ival;
	else if (len <= sizeof(int))
		t->ival = (uint64_t)(int64_t)(int32_t)t->ival;
	t->type = len <= sizeof(int) ? in->int_ : in->long_;
	t->text = start;
	t->len = (uint32_t)(cc->lex.p - start);
}

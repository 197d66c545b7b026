/*
 * format: printf formats, parsed into pieces.
 *
 * One conversion is  % flags width .precision size letter.  The table below says for each letter
 * and size what argument it takes. Unlike C, an integer conversion without a size takes an integer
 * of any size; an explicit size must match the argument.
 *
 * Pieces of text are copied with "%%" already replaced by "%", so that the consumer only writes the
 * text and then the conversion.
 */
#include <stdio.h>

#include "dif/format.h"

#define WIDTH_MAX      65535
#define POINTER_DIGITS 16 /* width of %?x */

/* ---- the table ---- */

static const struct dt_conversion conversions[] = {
    {"diouxX", "", DT_TAKES_INTEGER, 0},
    {"di", "h", DT_TAKES_SIGNED, 2},
    {"ouxX", "h", DT_TAKES_UNSIGNED, 2},
    {"di", "l", DT_TAKES_SIGNED, 8},
    {"u", "l", DT_TAKES_UNSIGNED, 8},
    {"oxX", "l", DT_TAKES_EITHER, 8},
    {"di", "ll", DT_TAKES_SIGNED, 8},
    {"u", "ll", DT_TAKES_UNSIGNED, 8},
    {"oxX", "ll", DT_TAKES_EITHER, 8},
    {"c", "", DT_TAKES_INTEGER, 0},
    {"C", "", DT_TAKES_CHAR, 0},
    {"c", "l", DT_TAKES_CHAR, 0},
    {"c", "w", DT_TAKES_CHAR, 0},
    {"s", "l", DT_TAKES_WIDE_STRING, 0},
    {"s", "w", DT_TAKES_WIDE_STRING, 0},
    {"sS", "", DT_TAKES_STRING, 0},
    {"a", "", DT_TAKES_ADDRESS, 0},
    {"A", "", DT_TAKES_USER_ADDRESS, 0},
    {"p", "", DT_TAKES_POINTER, 0},
    {"eEfgG", "", DT_TAKES_FLOAT, 0},
    {"eEfgG", "L", DT_TAKES_LONG_DOUBLE, 0},
    {"I", "", DT_TAKES_HOST, 0},
    {"P", "", DT_TAKES_PORT, 0},
    {"k", "", DT_TAKES_STACK, 0},
    {"TY", "", DT_TAKES_TIME, 0},
    {"D", "", DT_TAKES_INTEGER, 0},
    {"b", "", DT_TAKES_ENUM, 0},
    {"q", "", DT_TAKES_DISTRIBUTION, 0},
    {"N", "", DT_TAKES_KEYS, 0},
};

const struct dt_conversion *dt_conversion_find(char letter, const char *size)
{
	for (size_t i = 0; i < DT_NELEM(conversions); i++)
		if (letter && strchr(conversions[i].letters, letter) &&
		    strcmp(conversions[i].size, size) == 0)
			return &conversions[i];
	return NULL;
}

/* ---- parsing ---- */
struct parser {
	dt_arena *arena;
	const char *p, *end;
	char *text; /* literal text goes here; as large as the format */
	dt_error *err;
	uint32_t number; /* of the conversion, for messages */
	DT_VEC(dt_conv) convs;
};

static bool malformed(struct parser *ps, const char *fmt, ...) DT_PRINTF(2, 3);
static bool malformed(struct parser *ps, const char *fmt, ...)
{
	int n =
	    snprintf(ps->err->text, sizeof(ps->err->text), "format conversion #%u ", ps->number);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ps->err->text + n, sizeof(ps->err->text) - (size_t)n, fmt, ap);
	va_end(ap);
	ps->err->code = EDT_COMPILER;
	ps->err->tag = D_SYNTAX;
	return false;
}

static int peek(const struct parser *ps)
{
	return ps->p < ps->end ? (unsigned char)*ps->p : 0;
}

static bool parse_number(struct parser *ps, const char *what, int *out)
{
	int n = 0;

	while (peek(ps) >= '0' && peek(ps) <= '9') {
		n = n * 10 + (*ps->p++ - '0');
		if (n > WIDTH_MAX)
			return malformed(ps, "has a %s over %d", what, WIDTH_MAX);
	}
	*out = n;
	return true;
}

static void parse_flags(struct parser *ps, dt_conv *c)
{
	static const struct {
		char ch;
		uint16_t flag;
	} flags[] = {{'#', DT_CF_ALT},	  {'0', DT_CF_ZERO},  {'-', DT_CF_LEFT}, {'+', DT_CF_SIGN},
		     {'\'', DT_CF_GROUP}, {' ', DT_CF_SPACE}, {'@', DT_CF_AGG}};

	for (size_t i = 0; i < DT_NELEM(flags); i++) {
		if (peek(ps) == flags[i].ch) {
			c->flags |= flags[i].flag;
			ps->p++;
			i = (size_t)-1; /* look at the next character */
		}
	}
}

static bool parse_width(struct parser *ps, dt_conv *c)
{
	const char *digits;

	if (peek(ps) == '*') {
		ps->p++;
		c->flags |= DT_CF_DYNWIDTH;
	} else if (peek(ps) == '?') {
		ps->p++;
		c->width = POINTER_DIGITS;
	} else if (peek(ps) >= '1' && peek(ps) <= '9') {
		if (!parse_number(ps, "width", &c->width))
			return false;
		if (peek(ps) == '$')
			return malformed(
			    ps, "names its argument by position (%%n$), which D does not do");
	}
	if (peek(ps) != '.')
		return true;
	ps->p++;
	if (peek(ps) != '*') {
		digits = ps->p;
		if (!parse_number(ps, "precision", &c->prec))
			return false;
		c->prec_digits = ps->p - digits < 10 ? (uint8_t)(ps->p - digits) : 10;
		return true;
	}
	ps->p++;
	c->flags |= DT_CF_DYNPREC;
	return true;
}

static void parse_size(struct parser *ps, dt_conv *c)
{
	size_t n = 0;

	while (n < 2 && peek(ps) && strchr("hlLw", peek(ps))) {
		if (n == 1 && !(c->size[0] == 'l' && peek(ps) == 'l'))
			break;
		c->size[n++] = *ps->p++;
	}
}

/* After a '%'. Sets letter '%' for "%%". */
static bool parse_conv(struct parser *ps, dt_conv *c)
{
	const char *start = ps->p;

	ps->number++;
	parse_flags(ps, c);
	if (!parse_width(ps, c))
		return false;
	if (peek(ps) == '@') { /* "%8@d" is the same as "%@8d" */
		c->flags |= DT_CF_AGG;
		ps->p++;
	}
	parse_size(ps, c);
	if (ps->p >= ps->end)
		return malformed(ps, "is not complete: the format ends in it");
	c->letter = *ps->p++;
	if (c->letter == '%') {
		if (ps->p != start + 1)
			return malformed(ps, "is a %%%% with flags or a size");
		ps->number--;
		return true;
	}
	if (!dt_conversion_find(c->letter, c->size))
		return malformed(ps, "is unknown: %%%s%c%s", c->size,
				 c->letter >= ' ' && c->letter <= '~' ? c->letter : '?',
				 dt_conversion_find(c->letter, "") ? " (that size cannot be given)"
								   : "");
	return true;
}

static bool parse_pieces(struct parser *ps)
{
	char *out = ps->text, *piece = out;

	while (ps->p < ps->end) {
		dt_conv c = {.width = -1, .prec = -1, .arg = -1, .width_arg = -1, .prec_arg = -1};
		if (*ps->p != '%') {
			*out++ = *ps->p++;
			continue;
		}
		ps->p++;
		if (!parse_conv(ps, &c))
			return false;
		if (c.letter == '%') {
			*out++ = '%';
			continue;
		}
		c.text = piece;
		c.textlen = (uint32_t)(out - piece);
		piece = out;
		*dt_vec_add(&ps->convs, ps->arena) = c;
	}
	if (out > piece)
		*dt_vec_add(&ps->convs, ps->arena) = (dt_conv){.text = piece,
							       .textlen = (uint32_t)(out - piece),
							       .width = -1,
							       .prec = -1,
							       .arg = -1,
							       .width_arg = -1,
							       .prec_arg = -1};
	return true;
}

/* In the order of C: width, precision, value. */
static void number_args(dt_format *f)
{
	for (uint32_t i = 0; i < f->nconvs; i++) {
		dt_conv *c = &f->convs[i];
		if (c->flags & DT_CF_DYNWIDTH)
			c->width_arg = (int)f->nargs++;
		if (c->flags & DT_CF_DYNPREC)
			c->prec_arg = (int)f->nargs++;
		if (c->flags & DT_CF_AGG)
			f->has_agg_value = true;
		else if (c->letter)
			c->arg = (int)f->nargs++;
	}
}

dt_format *dt_format_parse(dt_arena *a, const char *text, size_t len, dt_error *err)
{
	struct parser ps = {.arena = a, .p = text, .end = text + len, .err = err};
	dt_format *f;

	ps.text = dt_arena_alloc(a, len + 1);
	if (!parse_pieces(&ps))
		return NULL;
	f = dt_arena_alloc(a, sizeof(*f));
	f->convs = ps.convs.v;
	f->nconvs = ps.convs.n;
	number_args(f);
	return f;
}

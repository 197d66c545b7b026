/*
 * format: printf formats, parsed and checked.
 *
 * One conversion is  % flags width .precision size letter.  The table below says for each letter
 * and size what argument it takes. Unlike C, an integer conversion without a size takes an integer
 * of any size; one that is written must be the argument's.
 *
 * Pieces of text are copied with "%%" already made "%", so that whoever prints only writes the
 * text and then the conversion.
 */
#include <stdio.h>

#include "lang/action.h"

#define WIDTH_MAX      65535
#define POINTER_DIGITS 16 /* width of %?x */

/* ---- the table ---- */
enum takes {
	TAKES_INTEGER, /* any */
	TAKES_SIGNED,  /* of exactly `bytes` */
	TAKES_UNSIGNED,
	TAKES_EITHER, /* of exactly `bytes`, signed or not */
	TAKES_CHAR,   /* an integer of at most 32 bits */
	TAKES_ADDRESS,
	TAKES_USER_ADDRESS,
	TAKES_POINTER,
	TAKES_FLOAT,
	TAKES_LONG_DOUBLE,
	TAKES_STRING,
	TAKES_WIDE_STRING,
	TAKES_HOST,
	TAKES_PORT,
	TAKES_STACK,
	TAKES_TIME,
};

static const char *const takes_text[] = {
    [TAKES_INTEGER] = "an integer",
    [TAKES_SIGNED] = "a signed integer of that size",
    [TAKES_UNSIGNED] = "an unsigned integer of that size",
    [TAKES_EITHER] = "an integer of that size",
    [TAKES_CHAR] = "an integer of at most 32 bits",
    [TAKES_ADDRESS] = "a pointer, an integer or the result of sym()",
    [TAKES_USER_ADDRESS] = "the result of usym(), or with -p or -c a pointer or integer",
    [TAKES_POINTER] = "a pointer or integer",
    [TAKES_FLOAT] = "a float or double",
    [TAKES_LONG_DOUBLE] = "a long double",
    [TAKES_STRING] = "a string or char array",
    [TAKES_WIDE_STRING] = "an array of wide characters",
    [TAKES_HOST] = "a string",
    [TAKES_PORT] = "a uint16_t",
    [TAKES_STACK] = "the result of stack(), ustack() or jstack()",
    [TAKES_TIME] = "a 64-bit integer",
};

static const struct conversion {
	const char *letters;
	const char *size;
	enum takes takes;
	uint8_t bytes;
} conversions[] = {
    {"diouxX", "", TAKES_INTEGER, 0},
    {"di", "h", TAKES_SIGNED, 2},
    {"ouxX", "h", TAKES_UNSIGNED, 2},
    {"di", "l", TAKES_SIGNED, 8},
    {"u", "l", TAKES_UNSIGNED, 8},
    {"oxX", "l", TAKES_EITHER, 8},
    {"di", "ll", TAKES_SIGNED, 8},
    {"u", "ll", TAKES_UNSIGNED, 8},
    {"oxX", "ll", TAKES_EITHER, 8},
    {"c", "", TAKES_INTEGER, 0},
    {"C", "", TAKES_CHAR, 0},
    {"c", "l", TAKES_CHAR, 0},
    {"c", "w", TAKES_CHAR, 0},
    {"s", "l", TAKES_WIDE_STRING, 0},
    {"s", "w", TAKES_WIDE_STRING, 0},
    {"sS", "", TAKES_STRING, 0},
    {"a", "", TAKES_ADDRESS, 0},
    {"A", "", TAKES_USER_ADDRESS, 0},
    {"p", "", TAKES_POINTER, 0},
    {"eEfgG", "", TAKES_FLOAT, 0},
    {"eEfgG", "L", TAKES_LONG_DOUBLE, 0},
    {"I", "", TAKES_HOST, 0},
    {"P", "", TAKES_PORT, 0},
    {"k", "", TAKES_STACK, 0},
    {"TY", "", TAKES_TIME, 0},
};

static const struct conversion *find_conversion(char letter, const char *size)
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
	ps->err->tag = "D_SYNTAX";
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
	if (peek(ps) != '*')
		return parse_number(ps, "precision", &c->prec);
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
	if (peek(ps) == '@') { /* "%8@d" is as good as "%@8d" */
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
	if (!find_conversion(c->letter, c->size))
		return malformed(ps, "is unknown: %%%s%c%s", c->size,
				 c->letter >= ' ' && c->letter <= '~' ? c->letter : '?',
				 find_conversion(c->letter, "") ? " (that size cannot be given)"
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

/* ---- checking ---- */
static bool is_wide_array(dt_compiler *cc, dt_type *t)
{
	return dt_type_is_array(t) && dt_type_is_integer(dt_type_resolve(t)->ref) &&
	       dt_type_size(cc->types, dt_type_resolve(t)->ref) == 4;
}

static bool is_special(dt_type *t, enum dt_special s)
{
	return dt_type_resolve(t)->special == s;
}

static bool accepts(dt_compiler *cc, const struct conversion *cv, dt_type *t)
{
	bool integer = dt_type_is_integer(t), pointer = dt_type_is_pointer(t);
	uint64_t size = dt_type_size(cc->types, t);

	switch (cv->takes) {
	case TAKES_INTEGER: return integer;
	case TAKES_SIGNED: return integer && size == cv->bytes && dt_type_is_signed(t);
	case TAKES_UNSIGNED: return integer && size == cv->bytes && !dt_type_is_signed(t);
	case TAKES_EITHER: return integer && size == cv->bytes;
	case TAKES_CHAR: return integer && size <= 4;
	case TAKES_ADDRESS: return integer || pointer || is_special(t, DT_S_SYMADDR);
	case TAKES_USER_ADDRESS:
		return is_special(t, DT_S_USYMADDR) ||
		       ((integer || pointer) && cc->macros && cc->macros->target > 0);
	case TAKES_POINTER: return integer || pointer;
	case TAKES_FLOAT: return dt_type_is_float(t) && size <= 8;
	case TAKES_LONG_DOUBLE: return dt_type_is_float(t) && size > 8;
	case TAKES_STRING:
		return dt_type_is_string(t) ||
		       (dt_type_is_array(t) && dt_type_is_char_array_or_ptr(t));
	case TAKES_WIDE_STRING: return is_wide_array(cc, t);
	case TAKES_HOST: return dt_type_is_string(t);
	case TAKES_PORT: return integer && size == 2 && !dt_type_is_signed(t);
	case TAKES_STACK: return is_special(t, DT_S_STACK);
	case TAKES_TIME: return integer && size == 8;
	}
	return false;
}

static const char *arg_word(const struct dt_format_args *a)
{
	return a->aggs ? "key" : "argument";
}

/* As the user counts: the format is argument 1 of printf(). */
static int arg_number(const struct dt_format_args *a, int arg)
{
	return arg + (a->aggs ? 1 : 2);
}

static void check_star(dt_compiler *cc, const struct dt_format_args *a, int arg, uint32_t number,
		       const char *what)
{
	if (arg < 0)
		return;
	if ((uint32_t)arg >= a->n)
		dt_fail(cc, a->pos, D_PRINTF_DYN_PROTO,
			"%s( ) conversion #%u has a dynamic %s (*), but there is no %s #%d for it",
			a->func, number, what, arg_word(a), arg_number(a, arg));
	if (!dt_type_is_integer(a->types[arg]))
		dt_fail(
		    cc, a->pos, D_PRINTF_DYN_TYPE,
		    "%s( ) conversion #%u has a dynamic %s (*): %s #%d must be an integer, not %s",
		    a->func, number, what, arg_word(a), arg_number(a, arg),
		    dt_tname(cc, a->types[arg]));
}

_Noreturn static void bad_type(dt_compiler *cc, const struct dt_format_args *a, const dt_conv *c,
			       uint32_t number, const char *what, const dt_type *got)
{
	const struct conversion *cv = find_conversion(c->letter, c->size);
	bool address =
	    cv->takes == TAKES_STRING && (dt_type_is_integer(got) || dt_type_is_pointer(got));

	dt_fail(cc, a->pos, D_PRINTF_ARG_TYPE,
		"%s( ) %s is incompatible with conversion #%u: %%%s%c takes %s, got %s%s", a->func,
		what, number, c->size, c->letter, takes_text[cv->takes], dt_tname(cc, got),
		address ? "; copyinstr( ) reads a string at a user address, stringof( ) at a "
			  "kernel address"
			: "");
}

/* %@d: the value of the next aggregation; when there are no more, of the last one again. */
static void check_agg_value(dt_compiler *cc, const struct dt_format_args *a, dt_conv *c,
			    uint32_t number, uint32_t *next)
{
	const struct dt_intrinsics *in = dt_intrinsics(cc->types);
	dt_agg *agg;
	dt_type *t;

	if (!a->aggs)
		dt_fail(cc, a->pos, D_PRINTF_AGG_CONV,
			"%s( ) conversion #%u: %%@ is an aggregation's value and only printa( ) "
			"has one",
			a->func, number);
	c->arg = (int)*next;
	if (*next + 1 < a->naggs)
		++*next;
	agg = a->aggs[c->arg];
	if (agg->func >= DT_ACT_QUANTIZE)
		return; /* a graph, whatever the letter */
	t = agg->func == DT_ACT_COUNT ? in->uint64 : in->int64;
	const struct conversion *cv = find_conversion(c->letter, c->size);
	bool sized = cv->takes == TAKES_SIGNED || cv->takes == TAKES_UNSIGNED;
	if (sized ? cv->bytes != 8 : !accepts(cc, cv, t))
		bad_type(cc, a, c, number, "the aggregation's value", t);
}

static void check_value(dt_compiler *cc, const struct dt_format_args *a, const dt_conv *c,
			uint32_t number)
{
	char what[32];

	if ((uint32_t)c->arg >= a->n)
		dt_fail(cc, a->pos, D_PRINTF_ARG_PROTO,
			"%s( ) conversion #%u (%%%s%c) needs %s #%d, which is missing", a->func,
			number, c->size, c->letter, arg_word(a), arg_number(a, c->arg));
	snprintf(what, sizeof(what), "%s #%d", arg_word(a), arg_number(a, c->arg));
	if (!accepts(cc, find_conversion(c->letter, c->size), a->types[c->arg]))
		bad_type(cc, a, c, number, what, a->types[c->arg]);
}

void dt_format_check(dt_compiler *cc, dt_format *f, const struct dt_format_args *a)
{
	uint32_t next_agg = 0;

	for (uint32_t i = 0; i < f->nconvs; i++) {
		dt_conv *c = &f->convs[i];
		if (!c->letter)
			continue;
		check_star(cc, a, c->width_arg, i + 1, "width");
		check_star(cc, a, c->prec_arg, i + 1, "precision");
		if (c->flags & DT_CF_AGG)
			check_agg_value(cc, a, c, i + 1, &next_agg);
		else
			check_value(cc, a, c, i + 1);
	}
	if (f->nargs < a->n && !a->aggs)
		dt_fail(cc, a->pos, D_PRINTF_ARG_EXTRA,
			"%s( ) has %u argument%s after the format, but the format takes %u",
			a->func, a->n, a->n == 1 ? "" : "s", f->nargs);
}

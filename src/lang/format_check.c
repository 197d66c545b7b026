/*
 * format_check: do the arguments of printf, printa, system and freopen match the format?
 *
 * The pieces and the table of conversions are dif/format.h's; what a conversion takes is compared with
 * the types of the arguments here.
 */
#include <stdio.h>

#include "lang/action.h"

static const char *const takes_text[] = {
    [DT_TAKES_INTEGER] = "an integer",
    [DT_TAKES_SIGNED] = "a signed integer of that size",
    [DT_TAKES_UNSIGNED] = "an unsigned integer of that size",
    [DT_TAKES_EITHER] = "an integer of that size",
    [DT_TAKES_CHAR] = "an integer of at most 32 bits",
    [DT_TAKES_ADDRESS] = "a pointer, an integer or the result of sym()",
    [DT_TAKES_USER_ADDRESS] = "the result of usym(), or with -p or -c a pointer or integer",
    [DT_TAKES_POINTER] = "a pointer or integer",
    [DT_TAKES_FLOAT] = "a float or double",
    [DT_TAKES_LONG_DOUBLE] = "a long double",
    [DT_TAKES_STRING] = "a string or char array",
    [DT_TAKES_WIDE_STRING] = "an array of wide characters",
    [DT_TAKES_HOST] = "a string",
    [DT_TAKES_PORT] = "a uint16_t",
    [DT_TAKES_STACK] = "the result of stack(), ustack() or jstack()",
    [DT_TAKES_TIME] = "a 64-bit integer",
    [DT_TAKES_ENUM] = "an enum",
    [DT_TAKES_KEYS] = "no argument (%@N is the number of keys of a printa( ))",
    [DT_TAKES_DISTRIBUTION] = "an aggregation of the quantize family, as in %@.99q",
};

static bool is_wide_array(dt_compiler *cc, dt_type *t)
{
	return dt_type_is_array(t) && dt_type_is_integer(dt_type_resolve(t)->ref) &&
	       dt_type_size(cc->types, dt_type_resolve(t)->ref) == 4;
}

static bool is_special(dt_type *t, enum dt_special s)
{
	return dt_type_resolve(t)->special == s;
}

static bool accepts(dt_compiler *cc, const struct dt_conversion *cv, dt_type *t)
{
	bool integer = dt_type_is_integer(t), pointer = dt_type_is_pointer(t);
	uint64_t size = dt_type_size(cc->types, t);

	switch (cv->takes) {
	case DT_TAKES_INTEGER: return integer;
	case DT_TAKES_SIGNED: return integer && size == cv->bytes && dt_type_is_signed(t);
	case DT_TAKES_UNSIGNED: return integer && size == cv->bytes && !dt_type_is_signed(t);
	case DT_TAKES_EITHER: return integer && size == cv->bytes;
	case DT_TAKES_CHAR: return integer && size <= 4;
	case DT_TAKES_ADDRESS: return integer || pointer || is_special(t, DT_S_SYMADDR);
	case DT_TAKES_USER_ADDRESS:
		return is_special(t, DT_S_USYMADDR) ||
		       ((integer || pointer) && cc->macros && cc->macros->target > 0);
	case DT_TAKES_POINTER: return integer || pointer;
	case DT_TAKES_FLOAT: return dt_type_is_float(t) && size <= 8;
	case DT_TAKES_LONG_DOUBLE: return dt_type_is_float(t) && size > 8;
	case DT_TAKES_STRING:
		return dt_type_is_string(t) ||
		       (dt_type_is_array(t) && dt_type_is_char_array_or_ptr(t));
	case DT_TAKES_WIDE_STRING: return is_wide_array(cc, t);
	case DT_TAKES_HOST: return dt_type_is_string(t);
	case DT_TAKES_PORT: return integer && size == 2 && !dt_type_is_signed(t);
	case DT_TAKES_STACK: return is_special(t, DT_S_STACK);
	case DT_TAKES_TIME: return integer && size == 8;
	case DT_TAKES_ENUM: return dt_type_resolve(t)->kind == DT_K_ENUM;
	case DT_TAKES_KEYS:
	case DT_TAKES_DISTRIBUTION: return false;
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
	const struct dt_conversion *cv = dt_conversion_find(c->letter, c->size);
	bool address =
	    cv->takes == DT_TAKES_STRING && (dt_type_is_integer(got) || dt_type_is_pointer(got));

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
	if (c->letter == 'N')
		return;
	c->arg = (int)*next;
	if (*next + 1 < a->naggs)
		++*next;
	agg = a->aggs[c->arg];
	if (agg->func >= DT_ACT_QUANTIZE)
		return; /* a graph, whatever the letter; %q: a percentile */
	t = agg->func == DT_ACT_COUNT ? in->uint64 : in->int64;
	const struct dt_conversion *cv = dt_conversion_find(c->letter, c->size);
	bool sized = cv->takes == DT_TAKES_SIGNED || cv->takes == DT_TAKES_UNSIGNED;
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
	if (!accepts(cc, dt_conversion_find(c->letter, c->size), a->types[c->arg]))
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

/*
 * check_sprintf: sprintf(), which the compiler takes apart.
 *
 *   sprintf("a %d b %s", x, y)  is  strjoin(strjoin(strjoin("a ", lltostr(x)), " b "), y)
 *
 * So it needs nothing of the engines, and a result that does not fit is strjoin()'s fault. What lltostr() cannot do is
 * refused: widths, precisions, other flags and conversions.
 */
#include "dif/format.h"
#include "lang/check.h"

static dt_node *text(dt_compiler *cc, dt_pos pos, const char *s, uint32_t n)
{
	dt_node *t = dt_node_new(cc, N_STRING, pos);

	t->str = dt_arena_strndup(cc->arena, s, n);
	t->len = n;
	return t;
}

static dt_node *call(dt_compiler *cc, const char *name, dt_node *a, dt_node *b)
{
	dt_node *n = dt_node_new(cc, N_CALL, a->pos);

	n->name = name;
	n->args = a;
	a->next = b;
	return n;
}

static dt_node *number(dt_compiler *cc, dt_node *a, int64_t v)
{
	return dt_node_int(cc, a->pos, (uint64_t)v, dt_intrinsics(cc->types)->int_);
}

/* Digits of the bits that the type has: a negative int is ffffffff, not 64 bits. */
static dt_node *hexadecimal(dt_compiler *cc, dt_node *a, bool prefix)
{
	const struct dt_intrinsics *in = dt_intrinsics(cc->types);
	uint64_t size = dt_type_size(cc->types, a->type);
	dt_node *digits;

	if (size < 8) {
		a = dt_node_op2(cc, '&', a, dt_node_int(cc, a->pos, ((uint64_t)1 << size * 8) - 1, in->uint64));
		a->l->next = NULL;
	}
	digits = call(cc, "lltostr", a, number(cc, a, 16));
	return prefix ? digits : call(cc, "substr", digits, number(cc, a, 2));
}

static dt_node *converted(dt_compiler *cc, dt_node *a, const dt_conv *c, uint32_t which)
{
	bool integer, hex = c->letter == 'x';

	if (!strchr("diuxs", c->letter) || c->width >= 0 || c->prec >= 0 || c->size[0] ||
	    (c->flags & ~(hex ? DT_CF_ALT : 0)))
		dt_fail(cc, a->pos, D_PRINTF_ARG_TYPE,
			"sprintf( ) conversion #%u: only %%d, %%i, %%u, %%x, %%#x and %%s are possible, without width "
			"and precision",
			which);
	a = dt_check(cc, a);
	a->next = NULL;
	integer = dt_type_is_integer(a->type);
	if (c->letter == 's' ? integer : !integer)
		dt_fail(cc, a->pos, D_PRINTF_ARG_TYPE, "sprintf( ) argument #%u is incompatible with %%%c: it is %s",
			which + 1, c->letter, dt_tname(cc, a->type));
	if (hex)
		return hexadecimal(cc, a, c->flags & DT_CF_ALT);
	return c->letter == 's' ? a : call(cc, "lltostr", a, NULL);
}

static void join(dt_compiler *cc, dt_node **all, dt_node *piece)
{
	*all = *all ? call(cc, "strjoin", *all, piece) : piece;
}

dt_node *dt_check_sprintf(dt_compiler *cc, dt_node *n)
{
	dt_node *arg = n->args ? n->args->next : NULL, *all = NULL, *next;
	uint32_t which = 0;
	dt_format *f;
	dt_error err = {0};

	if (!n->args || n->args->kind != N_STRING)
		dt_fail(cc, n->pos, D_PRINTF_ARG_FMT, "the first argument of sprintf( ) must be a format string");
	f = dt_format_parse(cc->arena, n->args->str, n->args->len, &err);
	if (!f)
		dt_fail_error(cc, n->args->pos, &err, D_SYNTAX);
	for (uint32_t i = 0; i < f->nconvs; i++) {
		const dt_conv *c = &f->convs[i];

		if (c->textlen)
			join(cc, &all, text(cc, n->pos, c->text, c->textlen));
		if (!c->letter)
			continue;
		if (!arg)
			dt_fail(cc, n->pos, D_PRINTF_ARG_PROTO, "sprintf( ) conversion #%u needs an argument, which is missing",
				which + 1);
		next = arg->next;
		arg->next = NULL;
		join(cc, &all, converted(cc, arg, c, ++which));
		arg = next;
	}
	if (arg)
		dt_fail(cc, arg->pos, D_PRINTF_ARG_EXTRA, "sprintf( ) has more arguments than its format takes");
	return dt_check(cc, all ? all : text(cc, n->pos, "", 0));
}

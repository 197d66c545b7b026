/*
 * text_agg: aggregations as text: the default layout, and printa() with a format.
 *
 * Default: keys in columns (a stack or a dump takes separate lines), then one number of 16 columns
 * per aggregation, or the graph of a distribution; one entry per line. A printa() begins with an
 * empty line.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "consume/writer.h"

#define STRING_WIDTH 50

static void put_key(dt_buf *out, const dt_value *v, const struct dt_consumer_env *env)
{
	size_t from = out->n;
	dt_buf b = {0};

	switch (v->kind) {
	case DT_V_NONE: break;
	case DT_V_INT: dt_text_int(out, v, false); break;
	case DT_V_FLOAT: dt_buf_printf(out, " %16Lg", dt_value_long_double(v)); break;
	case DT_V_STRING:
	case DT_V_BYTES:
		dt_text_bytes(out, v, STRING_WIDTH, false, dt_opt(env->opts, DT_O_RAWBYTES));
		dt_text_guard(out, from, env);
		break;
	case DT_V_STACK:
		dt_text_stack(out, v, (int)dt_opt(env->opts, DT_O_STACKINDENT), env);
		break;
	case DT_V_SYMBOL:
		dt_text_symbol(&b, v, env);
		dt_buf_printf(out, "  %-*s", STRING_WIDTH, b.s);
		dt_buf_free(&b);
		break;
	}
}

static void put_line(dt_buf *out, const dt_aggtable *t, const dt_aggline *l,
		     const struct dt_consumer_env *env)
{
	for (uint32_t i = 0; i < l->agg->nkeys; i++) {
		dt_value v;

		dt_value_of(&l->agg->keys[i], &l->keys[i], &v);
		put_key(out, &v, env);
	}
	for (uint32_t i = 0; i < t->nsets; i++) {
		const dt_aggset *s = t->sets[i];

		if (dt_agg_is_quantizer(s->agg))
			dt_text_quantize(out, s->agg, l->values[i], s->normal, env->opts);
		else
			dt_buf_printf(out, " %16lld",
				      (long long)dt_agg_number(s->agg, l->values[i], s->normal));
	}
	dt_buf_putc(out, '\n');
}

/* Only the number of keys: a format that is used once, not for each key. */
static bool is_size(const dt_format *f)
{
	bool yes = false;

	for (uint32_t i = 0; i < f->nconvs; i++) {
		if (!f->convs[i].letter || f->convs[i].letter == '%')
			continue;
		yes = f->convs[i].flags & DT_CF_AGG && f->convs[i].letter == 'N';
		if (!yes)
			return false;
	}
	return yes;
}

int dt_text_aggline(dt_buf *out, const dt_aggtable *t, const dt_aggline *l,
		    const struct dt_consumer_env *env, dt_error *err)
{
	struct dt_format_env fe = {.env = env,
				   .sets = t->sets,
				   .values = l->values,
				   .nsets = t->nsets,
				   .nlines = t->nlines};
	uint32_t n = l->agg->nkeys;
	dt_value *keys = dt_xcalloc(n + 1, sizeof(*keys));
	int rc;

	if (is_size(t->format) && l != t->lines) {
		free(keys);
		return 0;
	}
	for (uint32_t i = 0; i < n; i++)
		dt_value_of(&l->agg->keys[i], &l->keys[i], &keys[i]);
	fe.args = keys;
	fe.nargs = n;
	rc = dt_text_format(out, t->format, &fe, err);
	free(keys);
	return rc;
}

#define PIECE 65536 /* bytes */

/* A table may have millions of lines: what is complete goes to the file. 0 or -1. */
static int pass_on(dt_buf *out, const struct dt_consumer_env *env, dt_error *err)
{
	bool ok;

	if (!env->stream || out->n < PIECE)
		return 0;
	errno = 0;
	ok = fwrite(out->s, 1, out->n, env->stream) == out->n;
	dt_buf_reset(out);
	return ok ? 0 : dt_err(err, errno ? errno : EIO, NULL);
}

int dt_text_aggs(dt_buf *out, const dt_aggtable *t, const struct dt_consumer_env *env,
		 dt_error *err)
{
	if (t->format && !t->nlines && is_size(t->format))
		return dt_text_format(out, t->format, &(struct dt_format_env){.env = env}, err);
	if (t->format) {
		for (uint32_t i = 0; i < t->nlines; i++)
			if (dt_text_aggline(out, t, &t->lines[i], env, err) < 0 || pass_on(out, env, err) < 0)
				return -1;
		return 0;
	}
	if (!t->at_exit)
		dt_buf_putc(out, '\n');
	if (dt_text_packs(t, env->opts)) {
		dt_text_pack(out, t, env);
		return 0;
	}
	for (uint32_t i = 0; i < t->nlines; i++) {
		put_line(out, t, &t->lines[i], env);
		if (pass_on(out, env, err) < 0)
			return -1;
	}
	return 0;
}

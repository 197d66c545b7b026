/*
 * keys: what the keys of aggregations are called, and their values as text.
 */
#include "format/samples.h"

/* The only variable that a DIFO reads, if it does nothing else: "ldgs DT_VAR(n), %r1; ret %r1". */
static const char *only_variable(const dt_difo *d)
{
	const struct dt_builtin_var_desc *b;
	uint32_t op, id;

	if (!d || d->len != 2)
		return NULL;
	op = DT_I_OP(d->text[0]);
	id = DT_I_INDEX(d->text[0]);
	if (op != DT_OP_LDGS && op != DT_OP_LDTS && op != DT_OP_LDLS)
		return NULL;
	b = op == DT_OP_LDGS ? dt_builtin_var_find(id) : NULL;
	if (b)
		return b->name;
	for (uint32_t i = 0; i < d->nvars; i++)
		if (d->vars[i].id == id && d->vars[i].name < d->strlen)
			return d->strtab + d->vars[i].name;
	return NULL;
}

void dt_key_name(dt_buf *out, const dt_agg *agg, uint32_t i)
{
	const char *name = only_variable(agg->keys[i].difo);

	if (name && *name)
		dt_buf_puts(out, name);
	else
		dt_buf_printf(out, "key%u", i + 1);
}

static void put_stack(dt_buf *out, const dt_value *v, const struct dt_consumer_env *env)
{
	for (uint32_t i = v->nframes; i-- > 0;) {
		dt_frame f;

		dt_symbolise(env, v, i, &f);
		f.off = 0;
		dt_text_frame(out, &f);
		if (i > 0)
			dt_buf_putc(out, ';');
	}
}

void dt_key_text(dt_buf *out, const dt_value *v, const struct dt_consumer_env *env)
{
	switch (v->kind) {
	case DT_V_NONE: break;
	case DT_V_INT: dt_text_int(out, v, true); break;
	case DT_V_FLOAT: dt_buf_printf(out, "%Lg", dt_value_long_double(v)); break;
	case DT_V_STRING: dt_buf_add(out, v->data, v->size); break;
	case DT_V_BYTES:
		for (uint32_t i = 0; i < v->size; i++)
			dt_buf_printf(out, "%02x", ((const unsigned char *)v->data)[i]);
		break;
	case DT_V_STACK: put_stack(out, v, env); break;
	case DT_V_SYMBOL: dt_text_symbol(out, v, env); break;
	}
}

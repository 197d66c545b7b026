/*
 * keys: names of the keys of aggregations, and their values as text.
 */
#include "format/samples.h"

void dt_key_name(dt_buf *out, const dt_agg *agg, uint32_t i)
{
	const char *name = agg->keys[i].difo ? agg->keys[i].difo->name : NULL;

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

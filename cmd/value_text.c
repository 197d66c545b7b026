/*
 * value_text: values by their kind, each as one line.
 */
#include <string.h>

#include "value_text.h"

static void put(struct text *t, const char *s, size_t n)
{
	if (n > sizeof(t->s) - 1 - t->n)
		n = sizeof(t->s) - 1 - t->n;
	memcpy(t->s + t->n, s, n);
	t->s[t->n += n] = 0;
}

void text_string(struct text *t, const char *s)
{
	put(t, s, strlen(s));
}

static void put_frame(struct text *t, const dtrace_value_t *v, unsigned i)
{
	struct dtrace_frame f = {.size = sizeof(f)};
	char number[32];

	if (dtrace_value_frame(v, i, &f) < 0)
		return;
	if (f.symbol) {
		text_string(t, f.symbol);
	} else if (f.helper) {
		text_string(t, f.helper);
	} else {
		snprintf(number, sizeof(number), "0x%llx", (unsigned long long)f.address);
		text_string(t, f.module ? f.module : number);
	}
}

static void put_frames(struct text *t, const dtrace_value_t *v, unsigned n, unsigned most)
{
	for (unsigned i = 0; i < n && i < most; i++) {
		text_string(t, i ? " < " : "");
		put_frame(t, v, i);
	}
	text_string(t, n > most ? " < ..." : n ? "" : "[no stack]");
}

void text_value(struct text *t, const dtrace_value_t *v, unsigned frames)
{
	const struct dtrace_valueinfo *i = dtrace_value_info(v);
	char number[64];

	switch (i->kind) {
	case DTRACE_VALUE_INT:
		snprintf(number, sizeof(number), i->is_signed ? "%lld" : "%llu", (long long)i->u);
		text_string(t, number);
		break;
	case DTRACE_VALUE_FLOAT:
		snprintf(number, sizeof(number), "%g", dtrace_value_double(v));
		text_string(t, number);
		break;
	case DTRACE_VALUE_STRING: put(t, i->data, i->size); break;
	case DTRACE_VALUE_STACK:
	case DTRACE_VALUE_SYMBOL: put_frames(t, v, i->nframes, frames); break;
	default:
		for (size_t k = 0; k < i->size && k < 16; k++) {
			snprintf(number, sizeof(number), "%02x",
				 ((const unsigned char *)i->data)[k]);
			text_string(t, number);
		}
	}
}

/*
 * value: from recorded bytes to typed values, and from addresses to names.
 *
 * What a datum is follows from its action (stacks, symbols, memory) or from the type of the
 * action's DIFO. A value never has more bytes than the datum, whatever the action's size: it may
 * come from a file.
 */
#include <stdlib.h>

#include "consume/writer.h"

uint64_t dt_load_int(const void *p, uint32_t n, bool is_signed)
{
	const uint8_t *b = p;
	uint64_t v = 0;
	uint32_t bits;

	if (n > 8)
		n = 8;
	for (uint32_t i = 0; i < n; i++)
		v |= (uint64_t)b[i] << (8 * i);
	bits = n * 8;
	if (is_signed && bits > 0 && bits < 64 && (v >> (bits - 1) & 1))
		v |= ~UINT64_C(0) << bits;
	return v;
}

uint64_t dt_value_unsigned(const dt_value *v)
{
	if (v->kind == DT_V_INT && v->size < 8)
		return v->u & ((UINT64_C(1) << (v->size * 8)) - 1);
	return v->u;
}

long double dt_value_long_double(const dt_value *v)
{
	long double ld = 0;
	double d;
	float f;

	if (v->kind != DT_V_FLOAT)
		return v->is_signed ? (long double)(int64_t)v->u : (long double)v->u;
	switch (v->size) {
	case sizeof(f): memcpy(&f, v->data, sizeof(f)); return f;
	case sizeof(d): memcpy(&d, v->data, sizeof(d)); return d;
	case sizeof(ld): memcpy(&ld, v->data, sizeof(ld)); return ld;
	default: return 0;
	}
}

double dt_value_double(const dt_value *v)
{
	return (double)dt_value_long_double(v);
}

/* The stack of a process begins with its pid; helper strings may follow the frames. */
static void stack_value(const dt_action *a, const dt_datum *d, dt_value *v)
{
	bool user = dt_act(a->kind)->payload == DT_PAYLOAD_USTACK;
	uint32_t words = d->size / 8, skip = user ? 1 : 0, max = (uint32_t)a->arg, n = 0;
	uint64_t strsize = a->arg >> 32, strings;

	v->kind = DT_V_STACK;
	if (words < skip)
		return;
	if (user)
		v->pid = (long)dt_load_int(v->data, 8, true);
	v->data = (const char *)v->data + skip * 8;
	words -= skip;
	if (max == 0 || max > words)
		max = words;
	v->size = max * 8;
	strings = (uint64_t)(skip + max) * 8;
	if (user && strsize > 0 && strings < d->size) {
		v->strings = (const char *)d->data + strings;
		v->strings_size = d->size - (uint32_t)strings;
	}
	while (n < max && dt_value_pc(v, n) != 0)
		n++;
	v->nframes = n;
}

/* One part for each frame; an empty one ends it. */
static void text_stack_value(const dt_action *a, const dt_datum *d, dt_value *v)
{
	uint64_t strsize = a->arg >> 32;

	v->kind = DT_V_STACK;
	v->u = strsize;
	while (strsize && (v->nframes + 1ull) * strsize <= d->size && ((const char *)d->data)[v->nframes * strsize])
		v->nframes++;
}

static void symbol_value(const dt_action *a, const dt_datum *d, dt_value *v)
{
	bool user = dt_act(a->kind)->payload == DT_PAYLOAD_USYM;

	v->kind = DT_V_SYMBOL;
	if (user && d->size >= 16) {
		v->pid = (long)dt_load_int(d->data, 8, true);
		v->u = dt_load_int((const char *)d->data + 8, 8, false);
	} else {
		v->u = dt_load_int(d->data, d->size, false);
	}
}

static void difo_value(const dt_action *a, const dt_datum *d, dt_value *v)
{
	static const dt_diftype none;
	const dt_diftype *t = a->difo ? &a->difo->rtype : &none;

	v->type = a->difo ? a->difo->type : NULL;
	if (t->kind == DT_TYPE_STRING) {
		v->kind = DT_V_STRING;
		v->size = (uint32_t)strnlen(v->data, d->size);
		v->full = a->size > d->size ? a->size : d->size;
	} else if (t->ckind == DT_K_FLOAT) {
		v->kind = DT_V_FLOAT;
	} else if (t->flags != 0) {
		v->kind = DT_V_BYTES;
	} else if (d->size == 1 || d->size == 2 || d->size == 4 || d->size == 8) {
		v->kind = DT_V_INT;
		v->is_signed = v->type ? dt_type_is_signed(v->type) : true;
		v->u = dt_load_int(d->data, d->size, v->is_signed);
		if (d->shown)
			v->size = v->full = d->shown;
	} else {
		v->kind = DT_V_BYTES;
	}
}

void dt_value_of(const dt_action *a, const dt_datum *d, dt_value *v)
{
	memset(v, 0, sizeof(*v));
	v->act = a->kind;
	v->name = a->difo ? a->difo->name : NULL;
	if (!d->data || d->size == 0)
		return;
	v->data = d->data;
	v->size = v->full = d->size;
	switch (dt_act(a->kind)->payload) {
	case DT_PAYLOAD_STACK:
	case DT_PAYLOAD_USTACK: stack_value(a, d, v); break;
	case DT_PAYLOAD_IMMSTACK: text_stack_value(a, d, v); break;
	case DT_PAYLOAD_SYM:
	case DT_PAYLOAD_USYM: symbol_value(a, d, v); break;
	case DT_PAYLOAD_BYTES:
	case DT_PAYLOAD_PACKET:
	case DT_PAYLOAD_COUNTED: v->kind = DT_V_BYTES; break;
	case DT_PAYLOAD_NONE:
	case DT_PAYLOAD_VALUE: difo_value(a, d, v); break;
	}
}

uint64_t dt_value_pc(const dt_value *v, uint32_t frame)
{
	if (v->kind != DT_V_STACK || dt_act(v->act)->payload == DT_PAYLOAD_IMMSTACK || frame >= v->size / 8)
		return 0;
	return dt_load_int((const char *)v->data + (size_t)frame * 8, 8, false);
}

const char *dt_value_helper(const dt_value *v, size_t *at)
{
	const char *s = v->strings + *at;
	size_t n;

	if (!v->strings || *at >= v->strings_size)
		return "";
	n = strnlen(s, v->strings_size - *at);
	if (*at + n >= v->strings_size) {
		*at = v->strings_size;
		return "";
	}
	*at += n + 1;
	return s;
}

/* ---- addresses ---- */

void dt_symbolise_kernel(const struct dt_consumer_env *env, uint64_t pc, dt_frame *f)
{
	memset(f, 0, sizeof(*f));
	f->pc = pc;
	if (env->ksym && !env->ksym(env->arg, pc, &f->mod, &f->sym, &f->off))
		f->mod = f->sym = NULL;
}

void dt_symbolise_user(const struct dt_consumer_env *env, long pid, uint64_t time, uint64_t pc,
		       dt_frame *f)
{
	const char *slash;

	memset(f, 0, sizeof(*f));
	f->pc = pc;
	if (env->usym && !env->usym(env->arg, pid, time, pc, &f->mod, &f->sym, &f->off))
		f->mod = f->sym = NULL;
	if (f->mod && (slash = strrchr(f->mod, '/')) && slash[1])
		f->mod = slash + 1;
}

/* A return address belongs to the call before it: when abort() is the last thing a function does, the next address is
 * the next function's. */
static void symbolise_caller(const struct dt_consumer_env *env, const dt_value *v, uint64_t pc,
			     dt_frame *f)
{
	dt_symbolise_user(env, v->pid, v->time, pc - 1, f);
	f->pc = pc;
	f->off++;
}

/* The kernel has made the text. Its last byte is a NUL, unless it comes from a file. */
static void read_frame(const dt_value *v, uint32_t frame, dt_frame *f)
{
	const char *name = (const char *)v->data + frame * v->u;
	size_t n = frame < v->nframes ? strnlen(name, v->u) : v->u;

	*f = (dt_frame){.sym = n < v->u ? name : ""};
	if (n + 1 < v->u && name[v->u - 1] == 0)
		f->off = strtoull(name + n + 1, NULL, 16);
}

void dt_symbolise(const struct dt_consumer_env *env, const dt_value *v, uint32_t frame, dt_frame *f)
{
	uint64_t pc = v->kind == DT_V_STACK ? dt_value_pc(v, frame) : v->u;
	enum dt_payload p = dt_act(v->act)->payload;

	if (p == DT_PAYLOAD_IMMSTACK)
		read_frame(v, frame, f);
	else if (p == DT_PAYLOAD_STACK || p == DT_PAYLOAD_SYM)
		dt_symbolise_kernel(env, pc, f);
	else if (v->kind == DT_V_STACK && frame > 0)
		symbolise_caller(env, v, pc, f);
	else
		dt_symbolise_user(env, v->pid, v->time, pc, f);
}

void dt_find_line(const struct dt_consumer_env *env, const dt_value *v, uint32_t frame, dt_frame *f)
{
	enum dt_payload p = dt_act(v->act)->payload;
	bool user = p == DT_PAYLOAD_USTACK || p == DT_PAYLOAD_USYM;
	bool is_return = v->kind == DT_V_STACK && frame > 0; /* as in symbolise_caller() */

	if (user && env->line && dt_opt(env->opts, DT_O_SRCLINES) &&
	    !env->line(env->arg, v->pid, v->time, f->pc - is_return, &f->file, &f->line))
		f->file = NULL;
}

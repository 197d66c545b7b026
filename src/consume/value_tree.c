/*
 * value_tree: the parts of a value: members of a structure, elements of an array.
 *
 * A child is a value of its own that points into its parent's bytes. Types come from the kernel or from
 * programs, data from a record: a child that lies outside the recorded bytes is DT_V_NONE.
 */
#include "consume/writer.h"

static dt_type *resolved(const dt_value *v)
{
	return v->type ? dt_type_resolve(v->type) : NULL;
}

static bool is_byte_array(const dt_type *t)
{
	const dt_type *elem = t->ref ? dt_type_resolve(t->ref) : NULL;

	return !elem || (elem->kind == DT_K_INTEGER && elem->size == 1);
}

uint32_t dt_value_nchildren(dt_types *ts, const dt_value *v)
{
	dt_type *t = resolved(v);
	uint64_t size;

	if (v->kind != DT_V_BYTES || !t)
		return 0;
	if (dt_type_is_sou(t)) {
		dt_type_complete(ts, t);
		return t->nmembers;
	}
	if (t->kind != DT_K_ARRAY || is_byte_array(t))
		return 0;
	size = dt_type_size(ts, t->ref);
	if (size == 0)
		return 0;
	return (uint32_t)(t->nelems < v->size / size ? t->nelems : v->size / size);
}

bool dt_value_is_structure(const dt_value *v)
{
	return v->kind == DT_V_BYTES && v->type && dt_type_is_sou(dt_type_resolve(v->type));
}

static void bit_field(const dt_value *v, const dt_member *m, dt_value *child)
{
	uint64_t value = 0;
	uint32_t width = m->bit_width;

	child->kind = DT_V_NONE;
	if (width > 64 || (m->bit_offset + width + 7) / 8 > v->size)
		return;
	for (uint32_t i = 0; i < width; i++) {
		uint64_t b = m->bit_offset + i;

		value |= (uint64_t)(((const uint8_t *)v->data)[b / 8] >> (b % 8) & 1) << i;
	}
	child->is_signed = dt_type_is_signed(m->type);
	if (child->is_signed && width < 64 && value >> (width - 1) & 1)
		value |= ~UINT64_C(0) << width;
	child->kind = DT_V_INT;
	child->u = value;
	child->size = 8;
}

/* A value of this type, at the first of `size` recorded bytes. */
static void typed_value(dt_types *ts, const dt_type *type, dt_value *child)
{
	dt_type *t = dt_type_resolve(type);
	uint64_t size = dt_type_size(ts, t);

	child->kind = DT_V_NONE;
	if (size == 0 || size > child->size)
		return;
	child->size = child->full = (uint32_t)size;
	if (t->special == DT_S_STRING) {
		child->kind = DT_V_STRING;
		child->size = (uint32_t)strnlen(child->data, child->size);
	} else if (t->kind == DT_K_ARRAY && is_byte_array(t) && dt_type_is_signed(t->ref)) {
		child->kind = DT_V_STRING; /* char[] */
		child->size = (uint32_t)strnlen(child->data, child->size);
	} else if (t->kind == DT_K_FLOAT) {
		child->kind = DT_V_FLOAT;
	} else if (t->kind == DT_K_ARRAY || dt_type_is_sou(t) || size > 8) {
		child->kind = DT_V_BYTES;
	} else {
		child->kind = DT_V_INT;
		child->is_signed = dt_type_is_signed(t);
		child->u = dt_load_int(child->data, child->size, child->is_signed);
	}
}

bool dt_value_child(dt_types *ts, const dt_value *v, uint32_t i, dt_value *child, const char **name)
{
	dt_type *t = resolved(v);
	const dt_member *m = NULL;
	uint64_t at;

	*name = NULL;
	if (i >= dt_value_nchildren(ts, v))
		return false;
	*child = (dt_value){.pid = v->pid, .time = v->time, .act = v->act};
	if (dt_type_is_sou(t)) {
		m = &t->members[i];
		*name = m->name && m->name[0] ? m->name : NULL;
		at = m->bit_offset / 8;
		child->type = m->type;
	} else {
		at = i * dt_type_size(ts, t->ref);
		child->type = t->ref;
	}
	if (m && m->bit_width) {
		bit_field(v, m, child);
		return true;
	}
	if (at <= v->size) {
		child->data = (const char *)v->data + at;
		child->size = v->size - (uint32_t)at;
		typed_value(ts, child->type, child);
	}
	return true;
}

void dt_value_as(dt_types *ts, const dt_value *v, dt_type *type, dt_value *out)
{
	*out = *v;
	if (!type || v->kind == DT_V_NONE || v->kind == DT_V_STACK || v->kind == DT_V_SYMBOL)
		return;
	out->type = type;
	out->size = v->kind == DT_V_STRING ? v->full : v->size;
	if (v->kind == DT_V_BYTES)
		typed_value(ts, type, out);
	else
		out->size = v->size;
	if (out->kind == DT_V_NONE) /* less was recorded than the type has */
		*out = *v;
}

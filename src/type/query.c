/*
 * query: queries about one type. Each resolves typedefs and qualifiers first; those that need the
 * members of a type from a file read them then (dt_type_complete).
 */
#include <stdlib.h>

#include "type/user_store.h"

dt_type *dt_type_resolve(const dt_type *t)
{
	for (;;) {
		switch (t->kind) {
		case DT_K_TYPEDEF:
		case DT_K_CONST:
		case DT_K_VOLATILE:
		case DT_K_RESTRICT: t = t->ref; break;
		case DT_K_FORWARD:
			if (t->lazy && t->user != NULL)
				dt_user_forward((dt_type *)t);
			else if (t->lazy)
				dt_kernel_forward((dt_type *)t);
			if (t->ref == NULL)
				return (dt_type *)t;
			t = t->ref;
			break;
		default: return (dt_type *)t;
		}
	}
}

void dt_type_complete(dt_types *ts, dt_type *t)
{
	(void)ts;
	t = dt_type_resolve(t);
	if (t->lazy && t->btf != NULL)
		dt_btf_complete(t);
	else if (t->lazy && t->user != NULL)
		dt_user_complete(t);
}

bool dt_type_is_void(const dt_type *t)
{
	t = dt_type_resolve(t);
	return t->kind == DT_K_INTEGER && t->size == 0;
}

bool dt_type_is_integer(const dt_type *t)
{
	t = dt_type_resolve(t);
	return (t->kind == DT_K_INTEGER && t->size != 0) || t->kind == DT_K_ENUM;
}

bool dt_type_is_float(const dt_type *t)
{
	return dt_type_resolve(t)->kind == DT_K_FLOAT;
}

bool dt_type_is_pointer(const dt_type *t)
{
	return dt_type_resolve(t)->kind == DT_K_POINTER;
}

bool dt_type_is_array(const dt_type *t)
{
	return dt_type_resolve(t)->kind == DT_K_ARRAY;
}

bool dt_type_is_function(const dt_type *t)
{
	return dt_type_resolve(t)->kind == DT_K_FUNCTION;
}

bool dt_type_is_sou(const dt_type *t)
{
	t = dt_type_resolve(t);
	return t->kind == DT_K_STRUCT || t->kind == DT_K_UNION;
}

bool dt_type_is_string(const dt_type *t)
{
	return dt_type_resolve(t)->special == DT_S_STRING;
}

bool dt_type_is_dyn(const dt_type *t)
{
	return dt_type_resolve(t)->special == DT_S_DYN;
}

bool dt_type_is_char_array_or_ptr(const dt_type *t)
{
	t = dt_type_resolve(t);
	return (t->kind == DT_K_POINTER || t->kind == DT_K_ARRAY) &&
	       dt_type_resolve(t->ref)->is_char;
}

bool dt_type_is_string_compat(const dt_type *t)
{
	return dt_type_is_string(t) || dt_type_is_char_array_or_ptr(t);
}

static bool is_arith(const dt_type *t)
{
	return dt_type_is_integer(t) || dt_type_is_float(t);
}

bool dt_type_is_scalar(const dt_type *t)
{
	return is_arith(t) || dt_type_is_pointer(t);
}

bool dt_type_is_byref(const dt_type *t)
{
	t = dt_type_resolve(t);
	return t->special == DT_S_STRING || t->kind == DT_K_ARRAY || dt_type_is_sou(t) ||
	       (t->kind == DT_K_FLOAT && t->size > 8);
}

bool dt_type_is_signed(const dt_type *t)
{
	return dt_type_resolve(t)->is_signed;
}

bool dt_type_is_complete(dt_types *ts, dt_type *t)
{
	t = dt_type_resolve(t);
	switch (t->kind) {
	case DT_K_INTEGER: return t->size != 0;
	case DT_K_FUNCTION:
	case DT_K_FORWARD: return false;
	case DT_K_STRUCT:
	case DT_K_UNION: return t->btf != NULL || t->user != NULL || t->align != 0;
	case DT_K_ARRAY: return dt_type_is_complete(ts, t->ref);
	case DT_K_UNKNOWN: return t->special != DT_S_NONE;
	default: return true;
	}
}

uint64_t dt_type_size(dt_types *ts, dt_type *t)
{
	uint64_t n = 1;

	(void)ts;
	/* Not from the node: an element may have been incomplete when the array was made. */
	for (t = dt_type_resolve(t); t->kind == DT_K_ARRAY; t = dt_type_resolve(t->ref))
		n = dt_size_mul(n, t->nelems);
	return dt_size_mul(n, t->size);
}

uint32_t dt_type_align(dt_types *ts, dt_type *t)
{
	(void)ts;
	for (t = dt_type_resolve(t); t->kind == DT_K_ARRAY; t = dt_type_resolve(t->ref))
		;
	if (t->align == 0 && (t->kind == DT_K_STRUCT || t->kind == DT_K_UNION) &&
	    (t->btf != NULL || t->user != NULL))
		return dt_sou_align(ts, t);
	return t->align ? t->align : 1;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp((*(const dt_member *const *)a)->name, (*(const dt_member *const *)b)->name);
}

static void index_members(dt_types *ts, dt_type *t)
{
	t->by_name = dt_arena_alloc(dt_types_arena(ts), t->nmembers * sizeof(*t->by_name));
	t->nindexed = t->nmembers;
	t->nnamed = 0;
	for (uint32_t i = 0; i < t->nmembers; i++)
		if (t->members[i].name[0] != '\0')
			t->by_name[t->nnamed++] = &t->members[i];
	qsort(t->by_name, t->nnamed, sizeof(*t->by_name), compare_names);
}

/* A member of t itself. A long list is sorted once and then searched by bisection. */
static const dt_member *own_member(dt_types *ts, dt_type *t, const char *name)
{
	dt_member key = {.name = name};
	const dt_member *k = &key, **found;

	if (t->nmembers > 512) {
		if (t->nindexed != t->nmembers)
			index_members(ts, t);
		found = bsearch(&k, t->by_name, t->nnamed, sizeof(*t->by_name), compare_names);
		return found != NULL ? *found : NULL;
	}
	for (uint32_t i = 0; i < t->nmembers; i++)
		if (t->members[i].name[0] != '\0' && strcmp(t->members[i].name, name) == 0)
			return &t->members[i];
	return NULL;
}

/*
 * The search goes through anonymous members depth first, as C does. Real declarations nest a few
 * levels; `budget` ends the search of types crafted to be endless.
 */
static const dt_member *find_member(dt_types *ts, dt_type *t, const char *name, uint64_t *offset,
				    int depth, uint32_t *budget)
{
	const dt_member *own;

	t = dt_type_resolve(t);
	if ((t->kind != DT_K_STRUCT && t->kind != DT_K_UNION) || depth > 32)
		return NULL;
	dt_type_complete(ts, t);
	own = own_member(ts, t, name);
	if (own != NULL) {
		*offset = own->bit_offset;
		return own;
	}
	for (uint32_t i = 0; i<t->nmembers && * budget> 0; i++) {
		const dt_member *m = &t->members[i], *found;

		--*budget;
		if (m->name[0] != '\0' || m->bit_width != 0)
			continue;
		found = find_member(ts, m->type, name, offset, depth + 1, budget);
		if (found != NULL) {
			*offset += m->bit_offset;
			return found;
		}
	}
	return NULL;
}

const dt_member *dt_type_member(dt_types *ts, dt_type *t, const char *name, uint64_t *bit_offset)
{
	uint32_t budget = 1000000;
	uint64_t offset = 0;
	const dt_member *m;

	if (name == NULL || *name == '\0')
		return NULL;
	m = find_member(ts, t, name, &offset, 0, &budget);
	if (m != NULL && bit_offset != NULL)
		*bit_offset = offset;
	return m;
}

/*
 * user_node: shared by the readers of user programs' types: creates nodes of the store, and checks
 * them.
 *
 * Integers and floats become the intrinsic types where they can, so that a program's `char *` is
 * D's; pointers become userland ones. Files may be damaged or hostile: a member that does not fit
 * into its struct, or that contains the struct it is in, gets the broken type, so that a walk over
 * members always ends.
 *
 * A struct can only contain itself through members as large as it is. Such a member is read at
 * once, while its struct is still open: if the path leads back to an open struct, it is a cycle.
 */
#include "type/user_store.h"

static dt_type *new_node(struct dt_user_reader *r, enum dt_kind kind, const char *name)
{
	dt_types *ts = r->object->ts;
	dt_type *t = dt_type_node(ts, kind, NULL);

	if (name != NULL && *name != '\0')
		t->name = dt_arena_strdup(ts->arena, name);
	t->module = r->object->name;
	t->user = r;
	return t;
}

dt_type *dt_user_pointer(dt_types *ts, dt_type *to)
{
	return dt_type_userland(ts, dt_type_pointer(ts, to));
}

static bool is_power(uint64_t n, uint64_t max)
{
	return n != 0 && n <= max && (n & (n - 1)) == 0;
}

dt_type *dt_user_base(struct dt_user_reader *r, const char *name, uint64_t size,
		      enum dt_user_encoding e)
{
	dt_types *ts = r->object->ts;
	bool is_float = e == DT_USER_FLOAT;
	dt_type *n = name != NULL ? dt_base_by_spelling(ts, name) : NULL;

	if (n != NULL && n->size == size && (n->kind == DT_K_FLOAT) == is_float)
		return n;
	if (size == 0 && !is_float)
		return ts->in.void_; /* Rust's () and ! */
	if (!is_power(size, 16))
		return ts->broken;
	n = new_node(r, is_float ? DT_K_FLOAT : DT_K_INTEGER, name);
	n->size = n->align = (uint32_t)size;
	n->is_signed = e == DT_USER_SIGNED || e == DT_USER_CHAR || is_float;
	n->is_bool = e == DT_USER_BOOL;
	n->is_char = e == DT_USER_CHAR && size == 1;
	return n;
}

dt_type *dt_user_typedef(struct dt_user_reader *r, const char *name, dt_type *base)
{
	dt_type *t;

	if (name == NULL || *name == '\0')
		return base;
	t = new_node(r, DT_K_TYPEDEF, name);
	t->ref = base;
	t->size = base->size;
	t->align = base->align;
	return t;
}

dt_type *dt_user_lazy(struct dt_user_reader *r, enum dt_kind kind, const char *name, uint64_t size,
		      const void *ref)
{
	dt_type *t;

	if (kind == DT_K_ENUM ? !is_power(size, 8) : size > DT_SIZE_LIMIT)
		return r->object->ts->broken;
	t = new_node(r, kind, name);
	t->size = size;
	t->user_ref = ref;
	t->lazy = true;
	if (kind == DT_K_ENUM)
		t->align = (uint32_t)size;
	return t;
}

dt_type *dt_user_forward_node(struct dt_user_reader *r, bool is_union, const char *name,
			      const void *ref)
{
	dt_type *t = new_node(r, DT_K_FORWARD, name);

	t->user_ref = ref;
	t->tag_is_union = is_union;
	t->lazy = true; /* dt_user_forward() */
	return t;
}

/* The struct or union that a member of this type contains by value; NULL if none. */
static dt_type *by_value(dt_type *t)
{
	for (t = dt_type_resolve(t); t->kind == DT_K_ARRAY; t = dt_type_resolve(t->ref))
		if (t->nelems == 0)
			return NULL;
	return t->kind == DT_K_STRUCT || t->kind == DT_K_UNION ? t : NULL;
}

static void check_member(dt_types *ts, const dt_type *sou, dt_member *m)
{
	uint64_t room = dt_size_mul(sou->size, 8), size = dt_type_size(ts, m->type);
	dt_type *inner = by_value(m->type);
	bool ok = m->bit_offset <= room;

	if (m->bit_width != 0)
		ok = ok && dt_type_is_integer(m->type) && m->bit_width <= size * 8 &&
		     m->bit_width <= room - m->bit_offset;
	else
		ok = ok && m->bit_offset % 8 == 0 && dt_size_mul(size, 8) <= room - m->bit_offset;
	if (ok && inner != NULL && size == sou->size)
		dt_type_complete(ts, inner);
	if (!ok || (inner != NULL && inner->open)) {
		m->type = ts->broken;
		m->bit_width = 0;
		m->bit_offset = 0;
	}
}

void dt_user_set_members(dt_type *sou, const dt_member *v, uint32_t n)
{
	dt_types *ts = sou->user->object->ts;

	sou->members = dt_arena_alloc(ts->arena, (n + 1) * sizeof(*v));
	for (uint32_t i = 0; i < n; i++) {
		dt_member *m = &sou->members[i];

		*m = v[i];
		m->name = v[i].name != NULL ? dt_arena_strdup(ts->arena, v[i].name) : "";
		check_member(ts, sou, m);
	}
	sou->nmembers = n;
}

void dt_user_set_enumerators(dt_type *e, const dt_enumerator *v, uint32_t n)
{
	dt_types *ts = e->user->object->ts;

	e->enumerators = dt_arena_alloc(ts->arena, (n + 1) * sizeof(*v));
	for (uint32_t i = 0; i < n; i++) {
		e->enumerators[i] = (dt_enumerator){
		    dt_arena_strdup(ts->arena, v[i].name != NULL ? v[i].name : ""), v[i].value};
		e->has_negative |= v[i].value < 0;
	}
	e->nenumerators = n;
}

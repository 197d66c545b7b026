/*
 * relate: queries about two types: are they equal, are they compatible, and what is the type of an
 * arithmetic expression over them.
 *
 * "Equal" is C's notion of the same type. "Compatible" is what D accepts between pointers and in
 * translators: integers count by size and signedness (unsigned long and unsigned long long are the
 * same on LP64, and the kernel uses both for 64 bits), enums count as integers, void * is
 * compatible with every pointer, and all functions are compatible. A struct of the program is
 * compatible with one of the kernel if tag and size agree.
 *
 * The layout of a type is for machines that cannot see each other's types.
 */
#include "type/store.h"

#define DEPTH_MAX    64 /* pointers to pointers ...; types that deep differ */
#define LAYOUT_PARTS (1u << 20) /* of a type, and of the types in it */

static bool same_sou(const dt_type *a, const dt_type *b)
{
	return a == b || (a->kind == b->kind && a->size == b->size && a->name != NULL &&
			  b->name != NULL && strcmp(a->name, b->name) == 0);
}

static bool equal(dt_types *ts, dt_type *a, dt_type *b, int depth)
{
	a = dt_type_resolve(a);
	b = dt_type_resolve(b);
	if (a == b)
		return true;
	if (a->kind != b->kind || depth > DEPTH_MAX)
		return false;
	switch (a->kind) {
	case DT_K_POINTER:
		return a->userland == b->userland && equal(ts, a->ref, b->ref, depth + 1);
	case DT_K_ARRAY: return a->nelems == b->nelems && equal(ts, a->ref, b->ref, depth + 1);
	case DT_K_FUNCTION:
		if (a->nparams != b->nparams || a->varargs != b->varargs)
			return false;
		for (uint32_t i = 0; i < a->nparams; i++)
			if (!equal(ts, a->params[i], b->params[i], depth + 1))
				return false;
		return equal(ts, a->ref, b->ref, depth + 1);
	case DT_K_STRUCT:
	case DT_K_UNION:
	case DT_K_ENUM: return same_sou(a, b);
	default: return false;
	}
}

bool dt_type_equal(dt_types *ts, dt_type *a, dt_type *b)
{
	return equal(ts, a, b, 0);
}

/* A forward declaration is compatible with the struct or union of its tag. */
static bool forward_fits(const dt_type *f, const dt_type *t)
{
	if (f->name == NULL || t->name == NULL || strcmp(f->name, t->name) != 0)
		return false;
	if (t->kind == DT_K_FORWARD)
		return t->tag_is_union == f->tag_is_union;
	return t->kind == (f->tag_is_union ? DT_K_UNION : DT_K_STRUCT);
}

static bool compatible(dt_types *ts, dt_type *a, dt_type *b, int depth)
{
	a = dt_type_resolve(a);
	b = dt_type_resolve(b);
	if (a == b)
		return true;
	if (depth > DEPTH_MAX)
		return false;
	if (dt_type_is_integer(a) && dt_type_is_integer(b)) {
		if (a->kind == DT_K_ENUM || b->kind == DT_K_ENUM)
			return true;
		return a->size == b->size && a->is_signed == b->is_signed &&
		       a->is_bool == b->is_bool;
	}
	if (a->kind == DT_K_FORWARD)
		return forward_fits(a, b);
	if (b->kind == DT_K_FORWARD)
		return forward_fits(b, a);
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case DT_K_FLOAT: return a->size == b->size;
	case DT_K_POINTER:
		return dt_type_is_void(a->ref) || dt_type_is_void(b->ref) ||
		       compatible(ts, a->ref, b->ref, depth + 1);
	case DT_K_ARRAY:
		return dt_type_size(ts, a) == dt_type_size(ts, b) &&
		       compatible(ts, a->ref, b->ref, depth + 1);
	case DT_K_FUNCTION: return true;
	case DT_K_STRUCT:
	case DT_K_UNION: return same_sou(a, b);
	default: return false;
	}
}

bool dt_type_compatible(dt_types *ts, dt_type *a, dt_type *b)
{
	return compatible(ts, a, b, 0);
}

/* An enum is an int, unless one of its values needs more. */
static dt_type *promote_enum(dt_types *ts, dt_type *t)
{
	if (t->size > 4)
		return t->is_signed ? ts->in.long_ : ts->in.ulong;
	if (!t->is_signed && t->size == 4) {
		dt_type_complete(ts, t);
		for (uint32_t i = 0; i < t->nenumerators; i++)
			if (t->enumerators[i].value > INT32_MAX)
				return ts->in.uint;
	}
	return ts->in.int_;
}

dt_type *dt_type_promote(dt_types *ts, dt_type *t)
{
	dt_type *r = dt_type_resolve(t);

	if (r->kind == DT_K_ENUM)
		return promote_enum(ts, r);
	if (r->kind == DT_K_INTEGER && r->size != 0 && r->size < 4)
		return ts->in.int_;
	return r->kind == DT_K_INTEGER ? r : t;
}

/* Position in C's order of the integer types that remain after promotion. */
static int rank(const dt_types *ts, const dt_type *t)
{
	if (t->size != 8)
		return t->size < 8 ? 0 : 3;
	return t == ts->in.llong || t == ts->in.ullong ? 2 : 1;
}

static dt_type *unsigned_of(const dt_types *ts, dt_type *t)
{
	if (t == ts->in.int_)
		return ts->in.uint;
	if (t == ts->in.long_)
		return ts->in.ulong;
	return t == ts->in.llong ? ts->in.ullong : t;
}

dt_type *dt_type_usual(dt_types *ts, dt_type *a, dt_type *b)
{
	dt_type *s, *u;

	if (dt_type_is_float(a) || dt_type_is_float(b)) {
		if (!dt_type_is_float(b))
			return dt_type_resolve(a);
		if (!dt_type_is_float(a))
			return dt_type_resolve(b);
		return dt_type_resolve(dt_type_size(ts, a) >= dt_type_size(ts, b) ? a : b);
	}
	a = dt_type_promote(ts, a);
	b = dt_type_promote(ts, b);
	if (a == b)
		return a;
	if (dt_type_is_signed(a) == dt_type_is_signed(b))
		return rank(ts, a) >= rank(ts, b) ? a : b;
	s = dt_type_is_signed(a) ? a : b;
	u = s == a ? b : a;
	if (rank(ts, u) >= rank(ts, s))
		return u;
	return s->size > u->size ? s : unsigned_of(ts, s);
}

/* ---- are the bytes of two types the same, on two machines? ---- */

struct digest {
	uint64_t value;
	uint32_t left; /* parts: types of programs come from files that can say anything */
};

static void add_bytes(struct digest *d, const void *p, size_t n)
{
	uint64_t both[2] = {d->value, dt_hash_bytes(p, n)};

	d->value = dt_hash_bytes(both, sizeof(both));
}

static void add_name(struct digest *d, const char *name)
{
	add_bytes(d, name ? name : "", name ? strlen(name) : 0);
}

static void add_type(struct digest *d, dt_type *t, int depth)
{
	if (d->left == 0 || depth > DEPTH_MAX)
		return;
	d->left--;
	dt_type_complete(NULL, t);
	t = dt_type_resolve(t);
	uint64_t head[] = {t->kind, dt_type_size(NULL, t), t->is_signed, t->is_char, t->is_bool, t->nelems};

	add_bytes(d, head, sizeof(head));
	for (uint32_t i = 0; dt_type_is_sou(t) && i < t->nmembers && d->left > 0; i++) {
		uint64_t place[] = {t->members[i].bit_offset, t->members[i].bit_width};

		add_bytes(d, place, sizeof(place));
		add_name(d, t->members[i].name);
		add_type(d, t->members[i].type, depth + 1);
	}
	for (uint32_t i = 0; t->kind == DT_K_ENUM && i < t->nenumerators; i++) {
		add_bytes(d, &t->enumerators[i].value, sizeof(t->enumerators[i].value));
		add_name(d, t->enumerators[i].name);
	}
	if (t->kind == DT_K_ARRAY)
		add_type(d, t->ref, depth + 1);
}

uint64_t dt_type_layout(dt_type *t)
{
	struct digest d = {.left = LAYOUT_PARTS};
	enum dt_kind kind = dt_type_resolve(t)->kind;

	if (kind != DT_K_STRUCT && kind != DT_K_UNION && kind != DT_K_ARRAY && kind != DT_K_ENUM)
		return 0;
	add_type(&d, t, 0);
	return d.value ? d.value : 1;
}

/*
 * btf_type: BTF ids -> nodes of the store, each created when it is first reached.
 *
 * Pointers, arrays, qualifiers and functions become the store's interned derived types, and BTF's
 * integers become the intrinsic ones, so `char *` from the kernel is the program's `char *`.
 * Structs, unions and enums become nodes with a name and a size; members are read on demand, which
 * is where the walk stops: looking up task_struct creates one node.
 *
 * Damaged or hostile BTF: while a node is being made its place holds the store's "broken" type, so
 * a typedef of itself ends there; so do chains deeper than in any C program. A member that does not
 * fit into its struct, or that contains the struct it is in, gets the broken type: so code can
 * recurse over members of complete structs without meeting the same struct again.
 */
#include <stdlib.h>

#include "type/btf.h"

#define DEPTH_MAX 200 /* of derived types: pointers to arrays of ... */

static dt_type *node_of(struct dt_btf *b, uint32_t id, int depth);

/* What follows the record: struct btf_member, btf_param ... */
static const void *trailing(const struct btf_type *t)
{
	return t + 1;
}

static dt_type *from_btf(struct dt_btf *b, uint32_t id, enum dt_kind kind, const struct btf_type *t)
{
	const char *name = dt_btf_string(b, t->name_off);
	dt_type *n = dt_type_node(b->ts, kind, *name != '\0' ? name : NULL);

	n->module = b->module;
	n->btf = b;
	n->btf_id = id;
	return n;
}

/* ---- one maker per kind ---- */

static dt_type *make_int(struct dt_btf *b, uint32_t id, const struct btf_type *t)
{
	uint32_t encoding = BTF_INT_ENCODING(*(const uint32_t *)trailing(t));
	dt_type *n = dt_base_by_spelling(b->ts, dt_btf_string(b, t->name_off));

	if (n != NULL && n->size == t->size && t->size != 0)
		return n;
	if (t->size != 1 && t->size != 2 && t->size != 4 && t->size != 8 && t->size != 16)
		return b->ts->broken;
	n = from_btf(b, id, DT_K_INTEGER, t);
	n->size = n->align = t->size;
	n->is_signed = (encoding & BTF_INT_SIGNED) != 0;
	n->is_bool = (encoding & BTF_INT_BOOL) != 0;
	n->is_char = (encoding & BTF_INT_CHAR) != 0 && t->size == 1;
	return n;
}

static dt_type *make_float(struct dt_btf *b, uint32_t id, const struct btf_type *t)
{
	dt_type *n = dt_base_by_spelling(b->ts, dt_btf_string(b, t->name_off));

	if (n != NULL && n->kind == DT_K_FLOAT && n->size == t->size)
		return n;
	if (t->size != 2 && t->size != 4 && t->size != 8 && t->size != 12 && t->size != 16)
		return b->ts->broken;
	n = from_btf(b, id, DT_K_FLOAT, t);
	n->size = t->size;
	n->align = t->size == 12 ? 4 : t->size;
	n->is_signed = true;
	return n;
}

/* `T __user *`: the tag "user" stands between the pointer and T, among the qualifiers. */
static bool points_to_user(const struct dt_btf *b, uint32_t id)
{
	for (int i = 0; i < DEPTH_MAX; i++) {
		const struct btf_type *t = dt_btf_at(b, id);

		if (t == NULL)
			return false;
		switch (dt_btf_kind(t)) {
		case BTF_KIND_TYPE_TAG:
			if (!BTF_INFO_KFLAG(t->info) &&
			    strcmp(dt_btf_string(b, t->name_off), "user") == 0)
				return true;
			break;
		case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_RESTRICT: break;
		default: return false;
		}
		id = t->type;
	}
	return false;
}

static dt_type *make_pointer(struct dt_btf *b, const struct btf_type *t, int depth)
{
	dt_type *p = dt_type_pointer(b->ts, node_of(b, t->type, depth));

	return points_to_user(b, t->type) ? dt_type_userland(b->ts, p) : p;
}

static dt_type *make_array(struct dt_btf *b, const struct btf_type *t, int depth)
{
	const struct btf_array *a = trailing(t);

	return dt_type_array(b->ts, node_of(b, a->type, depth), a->nelems);
}

static dt_type *make_lazy(struct dt_btf *b, uint32_t id, enum dt_kind kind,
			  const struct btf_type *t)
{
	dt_type *n;

	if (kind == DT_K_ENUM && t->size != 1 && t->size != 2 && t->size != 4 && t->size != 8)
		return b->ts->broken;
	n = from_btf(b, id, kind, t);
	n->size = t->size;
	n->lazy = true;
	if (kind == DT_K_ENUM) {
		n->align = t->size;
		n->is_signed = BTF_INFO_KFLAG(t->info);
	}
	return n;
}

static dt_type *make_forward(struct dt_btf *b, uint32_t id, const struct btf_type *t, int depth)
{
	bool is_union = BTF_INFO_KFLAG(t->info);
	uint32_t kind = DT_BTF_KIND(is_union ? BTF_KIND_UNION : BTF_KIND_STRUCT);
	const char *name = dt_btf_string(b, t->name_off);
	dt_type *n;

	for (struct dt_btf *in = b; in != NULL && *name != '\0'; in = in->base) {
		uint32_t full = dt_btf_find(in, name, kind);

		if (full != 0)
			return node_of(in, full, depth);
	}
	n = from_btf(b, id, DT_K_FORWARD, t);
	n->tag_is_union = is_union;
	n->lazy = true; /* a module may have it: dt_kernel_forward() */
	return n;
}

static dt_type *make_typedef(struct dt_btf *b, uint32_t id, const struct btf_type *t, int depth)
{
	dt_type *n = from_btf(b, id, DT_K_TYPEDEF, t);

	n->ref = node_of(b, t->type, depth);
	n->size = n->ref->size;
	n->align = n->ref->align;
	return n;
}

static dt_type *make_function(struct dt_btf *b, const struct btf_type *t, int depth)
{
	const struct btf_param *p = trailing(t);
	uint32_t n = dt_btf_vlen(t);
	bool varargs = n > 0 && p[n - 1].type == 0 && p[n - 1].name_off == 0;
	dt_type **params, *f;

	n -= varargs;
	params = dt_xcalloc(n, sizeof(dt_type *));
	for (uint32_t i = 0; i < n; i++)
		params[i] = node_of(b, p[i].type, depth);
	f = dt_type_function(b->ts, node_of(b, t->type, depth), params, n, varargs);
	free(params);
	return f;
}

static dt_type *make_node(struct dt_btf *b, uint32_t id, const struct btf_type *t, int depth)
{
	switch (dt_btf_kind(t)) {
	case BTF_KIND_INT: return make_int(b, id, t);
	case BTF_KIND_FLOAT: return make_float(b, id, t);
	case BTF_KIND_PTR: return make_pointer(b, t, depth);
	case BTF_KIND_ARRAY: return make_array(b, t, depth);
	case BTF_KIND_STRUCT: return make_lazy(b, id, DT_K_STRUCT, t);
	case BTF_KIND_UNION: return make_lazy(b, id, DT_K_UNION, t);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64: return make_lazy(b, id, DT_K_ENUM, t);
	case BTF_KIND_FWD: return make_forward(b, id, t, depth);
	case BTF_KIND_TYPEDEF: return make_typedef(b, id, t, depth);
	case BTF_KIND_CONST: return dt_type_qualify(b->ts, node_of(b, t->type, depth), DT_K_CONST);
	case BTF_KIND_VOLATILE:
		return dt_type_qualify(b->ts, node_of(b, t->type, depth), DT_K_VOLATILE);
	case BTF_KIND_RESTRICT:
		return dt_type_qualify(b->ts, node_of(b, t->type, depth), DT_K_RESTRICT);
	case BTF_KIND_FUNC_PROTO: return make_function(b, t, depth);
	case BTF_KIND_TYPE_TAG:
	case BTF_KIND_FUNC:
	case BTF_KIND_VAR: return node_of(b, t->type, depth);
	default: return b->ts->broken; /* DATASEC, DECL_TAG: not types */
	}
}

static dt_type *node_of(struct dt_btf *b, uint32_t id, int depth)
{
	const struct btf_type *t = dt_btf_at(b, id);
	dt_type **slot;

	if (id == 0)
		return b->ts->in.void_;
	if (t == NULL || depth > DEPTH_MAX)
		return b->ts->broken;
	if (id < b->first_id)
		b = b->base;
	slot = &b->nodes[id - b->first_id];
	if (*slot == NULL) {
		*slot = b->ts->broken; /* what a cycle finds */
		*slot = make_node(b, id, t, depth + 1);
	}
	return *slot;
}

/* ---- completing structs ---- */

/* The struct or union that a member of this type contains by value; 0 if none. */
static uint32_t by_value(const struct dt_btf *b, uint32_t id)
{
	for (int i = 0; i < DEPTH_MAX; i++) {
		const struct btf_type *t = dt_btf_at(b, id);
		const struct btf_array *a;

		if (t == NULL)
			return 0;
		switch (dt_btf_kind(t)) {
		case BTF_KIND_STRUCT:
		case BTF_KIND_UNION: return id;
		case BTF_KIND_ARRAY:
			a = trailing(t);
			if (a->nelems == 0)
				return 0;
			id = a->type;
			break;
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_RESTRICT:
		case BTF_KIND_TYPE_TAG: id = t->type; break;
		default: return 0;
		}
	}
	return 0;
}

/*
 * Does struct `id` contain struct `target` by value? Members have been or will be checked to fit
 * their struct, so on such a cycle all sizes are equal and only members of that size matter:
 * usually there are none. A search that is too long counts as yes.
 */
static bool contains(const struct dt_btf *b, uint32_t id, uint32_t target, int depth, int *budget)
{
	const struct btf_type *t = dt_btf_at(b, id), *mt;
	const struct btf_member *m = trailing(t);

	if (id == target || depth > 32)
		return true;
	for (uint32_t i = 0; i < dt_btf_vlen(t); i++) {
		uint32_t inner = by_value(b, m[i].type);

		if (--*budget < 0)
			return true;
		if (inner == 0)
			continue;
		mt = dt_btf_at(b, inner);
		if (mt->size == t->size && contains(b, inner, target, depth + 1, budget))
			return true;
	}
	return false;
}

/* Old BTF: the width of a bit-field is in its integer type. */
static void old_bitfield(const struct dt_btf *b, const struct btf_member *bm, dt_member *m)
{
	const struct btf_type *t = dt_btf_at(b, bm->type);
	uint32_t info;

	for (int i = 0; t != NULL && i < DEPTH_MAX; i++) {
		uint32_t kind = dt_btf_kind(t);

		if (kind != BTF_KIND_TYPEDEF && kind != BTF_KIND_CONST && kind != BTF_KIND_VOLATILE)
			break;
		t = dt_btf_at(b, t->type);
	}
	if (t == NULL || dt_btf_kind(t) != BTF_KIND_INT)
		return;
	info = *(const uint32_t *)trailing(t);
	if (BTF_INT_BITS(info) != 0 && BTF_INT_BITS(info) < (uint64_t)t->size * 8) {
		m->bit_width = BTF_INT_BITS(info);
		m->bit_offset += BTF_INT_OFFSET(info);
	}
}

/* A member outside its struct, or with an impossible type, becomes unknown. */
static void check_member(dt_type *sou, const struct btf_member *bm, dt_member *m)
{
	struct dt_btf *b = sou->btf;
	uint64_t room = dt_size_mul(sou->size, 8), size = dt_type_size(b->ts, m->type);
	uint32_t inner = by_value(b, bm->type);
	bool ok = m->bit_offset <= room;
	int budget = 4096;

	if (m->bit_width != 0)
		ok = ok && dt_type_is_integer(m->type) && m->bit_width <= size * 8 &&
		     m->bit_width <= room - m->bit_offset;
	else
		ok = ok && m->bit_offset % 8 == 0 && dt_size_mul(size, 8) <= room - m->bit_offset;
	if (ok && inner != 0 && size == sou->size)
		ok = !contains(b, inner, sou->btf_id, 0, &budget);
	if (!ok) {
		m->type = b->ts->broken;
		m->bit_width = 0;
		m->bit_offset = 0;
	}
}

static void read_members(dt_type *sou, const struct btf_type *t)
{
	struct dt_btf *b = sou->btf;
	const struct btf_member *bm = trailing(t);
	uint32_t n = dt_btf_vlen(t);
	bool packed_width = BTF_INFO_KFLAG(t->info);

	sou->members = dt_arena_alloc(b->ts->arena, n * sizeof(dt_member));
	for (uint32_t i = 0; i < n; i++) {
		dt_member *m = &sou->members[i];

		m->name = dt_btf_string(b, bm[i].name_off);
		m->type = node_of(b, bm[i].type, 0);
		m->bit_offset = packed_width ? BTF_MEMBER_BIT_OFFSET(bm[i].offset) : bm[i].offset;
		m->bit_width = packed_width ? BTF_MEMBER_BITFIELD_SIZE(bm[i].offset) : 0;
		if (!packed_width)
			old_bitfield(b, &bm[i], m);
		check_member(sou, &bm[i], m);
	}
	sou->nmembers = n;
}

static int64_t enum_value(const struct btf_type *t, uint32_t i)
{
	if (dt_btf_kind(t) == BTF_KIND_ENUM64) {
		const struct btf_enum64 *e = (const struct btf_enum64 *)trailing(t) + i;

		return (int64_t)((uint64_t)e->val_hi32 << 32 | e->val_lo32);
	} else {
		const struct btf_enum *e = (const struct btf_enum *)trailing(t) + i;

		return BTF_INFO_KFLAG(t->info) ? e->val : (int64_t)(uint32_t)e->val;
	}
}

static const char *enum_name(const struct dt_btf *b, const struct btf_type *t, uint32_t i)
{
	if (dt_btf_kind(t) == BTF_KIND_ENUM64)
		return dt_btf_string(b, ((const struct btf_enum64 *)trailing(t))[i].name_off);
	return dt_btf_string(b, ((const struct btf_enum *)trailing(t))[i].name_off);
}

static void read_enumerators(dt_type *e, const struct btf_type *t)
{
	uint32_t n = dt_btf_vlen(t);

	e->enumerators = dt_arena_alloc(e->btf->ts->arena, n * sizeof(dt_enumerator));
	for (uint32_t i = 0; i < n; i++)
		e->enumerators[i] = (dt_enumerator){enum_name(e->btf, t, i), enum_value(t, i)};
	e->nenumerators = n;
}

void dt_btf_complete(dt_type *t)
{
	const struct btf_type *bt = dt_btf_at(t->btf, t->btf_id);

	t->lazy = false;
	if (t->kind == DT_K_ENUM)
		read_enumerators(t, bt);
	else if (t->kind == DT_K_STRUCT || t->kind == DT_K_UNION)
		read_members(t, bt);
}

/* ---- look-ups ---- */

dt_type *dt_btf_lookup(struct dt_btf *b, enum dt_namespace ns, const char *name)
{
	static const uint32_t kinds[] = {
	    [DT_NS_ORDINARY] = DT_BTF_KIND(BTF_KIND_TYPEDEF) | DT_BTF_KIND(BTF_KIND_INT) |
			       DT_BTF_KIND(BTF_KIND_FLOAT),
	    [DT_NS_STRUCT] = DT_BTF_KIND(BTF_KIND_STRUCT),
	    [DT_NS_UNION] = DT_BTF_KIND(BTF_KIND_UNION),
	    [DT_NS_ENUM] = DT_BTF_KIND(BTF_KIND_ENUM) | DT_BTF_KIND(BTF_KIND_ENUM64),
	};
	uint32_t id = dt_btf_find(b, name, kinds[ns]);
	dt_type *t = id != 0 ? node_of(b, id, 0) : NULL;

	return t != b->ts->broken ? t : NULL;
}

dt_type *dt_btf_symbol(struct dt_btf *b, const char *name)
{
	uint32_t id = dt_btf_find(b, name, DT_BTF_KIND(BTF_KIND_FUNC) | DT_BTF_KIND(BTF_KIND_VAR));
	dt_type *t = id != 0 ? node_of(b, id, 0) : NULL;

	return t != b->ts->broken ? t : NULL;
}

static bool is_enum(const struct btf_type *t)
{
	return dt_btf_kind(t) == BTF_KIND_ENUM || dt_btf_kind(t) == BTF_KIND_ENUM64;
}

static void index_enumerators(struct dt_btf *b)
{
	uint32_t count = 0, at = 0, n = dt_btf_count(b);
	const struct btf_type *first = dt_btf_at(b, b->first_id), *t = first;

	for (uint32_t i = 0; i < n; t = ++i < n ? dt_btf_next(t) : first)
		count += is_enum(t) ? dt_btf_vlen(t) : 0;
	b->enumerators = dt_xcalloc(count, sizeof(*b->enumerators));
	for (uint32_t i = 0; i < n; i++) {
		t = i ? dt_btf_next(t) : first;
		for (uint32_t j = 0; is_enum(t) && j < dt_btf_vlen(t); j++)
			b->enumerators[at++] = (struct dt_btf_enumerator){b->first_id + i, j};
	}
	dt_btf_index_init(&b->enum_names, count, count);
	for (uint32_t i = count; i-- > 0;) {
		const struct dt_btf_enumerator *e = &b->enumerators[i];

		dt_btf_index_add(&b->enum_names, i, enum_name(b, dt_btf_at(b, e->id), e->nth));
	}
}

bool dt_btf_enumerator(struct dt_btf *b, const char *name, dt_type **type, int64_t *value)
{
	if (b->enumerators == NULL)
		index_enumerators(b);
	for (uint32_t i = dt_btf_index_first(&b->enum_names, name); i != 0;
	     i = b->enum_names.next[i - 1]) {
		const struct dt_btf_enumerator *e = &b->enumerators[i - 1];
		const struct btf_type *t = dt_btf_at(b, e->id);

		if (strcmp(enum_name(b, t, e->nth), name) != 0)
			continue;
		if (type != NULL)
			*type = node_of(b, e->id, 0);
		if (value != NULL)
			*value = enum_value(t, e->nth);
		return true;
	}
	return false;
}

/* ---- offsets ---- */

#define NESTED_MAX 16

/* A member of a struct or union, also inside of members without a name: its offset is added to *bits, its type is the
 * result; 0: there is none. */
static uint32_t find_member(const struct dt_btf *b, uint32_t id, const char *name, size_t len,
			    uint64_t *bits, int depth)
{
	const struct btf_type *t = dt_btf_at(b, id);
	const struct btf_member *m = trailing(t);

	for (uint32_t i = 0; i < dt_btf_vlen(t); i++) {
		const char *s = dt_btf_string(b, m[i].name_off);
		uint64_t at =
		    BTF_INFO_KFLAG(t->info) ? BTF_MEMBER_BIT_OFFSET(m[i].offset) : m[i].offset;
		uint32_t inner, found;

		if (*s != '\0') {
			if (strncmp(s, name, len) != 0 || s[len] != '\0')
				continue;
			*bits += at;
			return m[i].type;
		}
		inner = depth < NESTED_MAX ? by_value(b, m[i].type) : 0;
		found = inner ? find_member(b, inner, name, len, bits, depth + 1) : 0;
		if (found) {
			*bits += at;
			return found;
		}
	}
	return 0;
}

bool dt_btf_offset(struct dt_btf *b, const char *type, const char *path, uint32_t *offset)
{
	uint32_t id = dt_btf_find(b, type, DT_BTF_KIND(BTF_KIND_STRUCT));
	uint64_t bits = 0;

	for (const char *p = path; id && *p;) {
		size_t n = strcspn(p, ".");

		if (p != path)
			id = by_value(b, id);
		id = id ? find_member(b, id, p, n, &bits, 0) : 0;
		p += n + (p[n] == '.');
	}
	*offset = (uint32_t)(bits / 8);
	return id != 0;
}

bool dt_btf_size(struct dt_btf *b, const char *type, uint32_t *size)
{
	uint32_t id = dt_btf_find(b, type, DT_BTF_KIND(BTF_KIND_STRUCT));

	if (id)
		*size = dt_btf_at(b, id)->size;
	return id;
}

bool dt_btf_enum_value(struct dt_btf *b, const char *type, const char *name, int64_t *value)
{
	uint32_t id =
	    dt_btf_find(b, type, DT_BTF_KIND(BTF_KIND_ENUM) | DT_BTF_KIND(BTF_KIND_ENUM64));
	const struct btf_type *t = id ? dt_btf_at(b, id) : NULL;

	for (uint32_t i = 0; t && i < dt_btf_vlen(t); i++)
		if (strcmp(enum_name(b, t, i), name) == 0) {
			*value = enum_value(t, i);
			return true;
		}
	return false;
}

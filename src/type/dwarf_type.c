/*
 * dwarf_type: DIEs -> nodes of the store, each created when it is first reached.
 *
 * Structs and unions become nodes with a name and a size; their members are read on demand, which
 * is where the walk stops. The same declaration in a header is described once per unit that
 * includes it: those that agree in file, line, name and size become one node.
 *
 * Constructs that C lacks: a base class is an anonymous member, so that its members are found as in
 * C++; a reference is a pointer; virtual base classes and static members are omitted; all variants
 * of a Rust enum are members at their offsets, and `discriminant` tells which one is valid.
 *
 * Damaged files: while a node is being made its place holds the broken type, so a typedef of itself
 * ends there.
 */
#include <stdio.h>
#include <stdlib.h>

#include "type/dwarf.h"

static dt_type *node_of(struct dwarf_reader *d, Dwarf_Die *die, int depth);

/* ---- attributes ---- */

bool dt_dwarf_number(Dwarf_Die *die, unsigned name, uint64_t *v)
{
	Dwarf_Attribute a;
	Dwarf_Word w;

	if (dwarf_attr(die, name, &a) == NULL || dwarf_formudata(&a, &w) != 0)
		return false;
	*v = w;
	return true;
}

bool dt_dwarf_referred(Dwarf_Die *die, unsigned name, Dwarf_Die *to)
{
	Dwarf_Attribute a;

	return dwarf_attr_integrate(die, name, &a) != NULL && dwarf_formref_die(&a, to) != NULL;
}

static dt_type *type_of(struct dwarf_reader *d, Dwarf_Die *die, int depth)
{
	Dwarf_Die to;

	if (!dwarf_hasattr_integrate(die, DW_AT_type))
		return d->r.object->ts->in.void_;
	return dt_dwarf_referred(die, DW_AT_type, &to) ? node_of(d, &to, depth)
						       : d->r.object->ts->broken;
}

dt_type *dt_dwarf_type_of(struct dwarf_reader *d, Dwarf_Die *die)
{
	return type_of(d, die, 0);
}

/* ---- one maker per kind ---- */

static dt_type *make_base(struct dwarf_reader *d, Dwarf_Die *die)
{
	dt_types *ts = d->r.object->ts;
	const char *name = dwarf_diename(die);
	uint64_t size = 0, encoding = 0;
	enum dt_user_encoding e;

	dt_dwarf_number(die, DW_AT_byte_size, &size);
	dt_dwarf_number(die, DW_AT_encoding, &encoding);
	switch (encoding) {
	case DW_ATE_boolean: e = DT_USER_BOOL; break;
	case DW_ATE_float: e = DT_USER_FLOAT; break;
	case DW_ATE_signed: e = DT_USER_SIGNED; break;
	case DW_ATE_signed_char: e = DT_USER_CHAR; break;
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
	case DW_ATE_address: e = DT_USER_UNSIGNED; break;
	case DW_ATE_complex_float: /* real part, imaginary part */
		name = size == 8 ? "float" : size == 16 ? "double" : "long double";
		return dt_type_array(ts, dt_user_base(&d->r, name, size / 2, DT_USER_FLOAT), 2);
	default: return ts->broken; /* decimal and fixed-point numbers */
	}
	return dt_user_base(&d->r, name, size, e);
}

/* A pointer to a member is an offset; to a member function, a function and an offset. */
static dt_type *make_member_pointer(struct dwarf_reader *d, Dwarf_Die *die)
{
	dt_types *ts = d->r.object->ts;
	Dwarf_Die to;
	bool function =
	    dt_dwarf_referred(die, DW_AT_type, &to) && dwarf_tag(&to) == DW_TAG_subroutine_type;

	return function ? dt_type_array(ts, ts->in.ulong, 2) : ts->in.ptrdiff;
}

/* One dimension; 0 when it is not a constant (flexible, or known at run time only). */
static uint64_t dimension(Dwarf_Die *range)
{
	uint64_t upper, count, lower = 0;

	if (dt_dwarf_number(range, DW_AT_count, &count))
		return count;
	if (!dt_dwarf_number(range, DW_AT_upper_bound, &upper))
		return 0;
	dt_dwarf_number(range, DW_AT_lower_bound, &lower);
	count = upper - lower + 1;
	return count > DT_SIZE_LIMIT ? 0 : count; /* some compilers write [0] as [-1] */
}

static dt_type *make_array(struct dwarf_reader *d, Dwarf_Die *die, int depth)
{
	dt_type *t = type_of(d, die, depth);
	uint64_t dims[16];
	uint32_t n = 0;
	struct dwarf_walk w;

	for (dwarf_first(die, &w); w.more && n < DT_NELEM(dims); dwarf_next(&w))
		if (dwarf_tag(&w.die) == DW_TAG_subrange_type)
			dims[n++] = dimension(&w.die);
	if (n == 0)
		dims[n++] = 0;
	while (n-- > 0)
		t = dt_type_array(d->r.object->ts, t, dims[n]);
	return t;
}

static const void *keep(struct dwarf_reader *d, const Dwarf_Die *die)
{
	return dt_arena_dup(d->r.object->ts->arena, die, sizeof(*die));
}

static dt_type *make_sou(struct dwarf_reader *d, Dwarf_Die *die, enum dt_kind kind, int depth)
{
	const char *name = dwarf_diename(die);
	uint64_t size = 0;
	Dwarf_Die full;

	if (dt_dwarf_referred(die, DW_AT_signature,
			      &full)) /* in a unit of its own: -fdebug-types-section */
		return node_of(d, &full, depth);
	if (dwarf_hasattr(die, DW_AT_declaration))
		return dt_user_forward_node(&d->r, kind == DT_K_UNION, name, keep(d, die));
	dt_dwarf_number(die, DW_AT_byte_size, &size);
	return dt_user_lazy(&d->r, kind, name, size, keep(d, die));
}

static bool is_signed_type(struct dwarf_reader *d, Dwarf_Die *die, int depth)
{
	return dwarf_hasattr(die, DW_AT_type) && dt_type_is_signed(type_of(d, die, depth));
}

/* Enumerators are read at once: the sign of an enum depends on them. */
static dt_type *make_enum(struct dwarf_reader *d, Dwarf_Die *die, int depth)
{
	uint64_t size = 4;
	dt_type *t;

	dt_dwarf_number(die, DW_AT_byte_size, &size);
	t = dt_user_lazy(&d->r, DT_K_ENUM, dwarf_diename(die), size, keep(d, die));
	if (t == d->r.object->ts->broken)
		return t;
	t->is_signed = is_signed_type(d, die, depth);
	dt_type_complete(d->r.object->ts, t);
	t->is_signed |= t->has_negative;
	return t;
}

static dt_type *make_function(struct dwarf_reader *d, Dwarf_Die *die, int depth)
{
	DT_VEC(dt_type *) params = {0};
	bool varargs = false;
	struct dwarf_walk w;
	dt_type *t;

	for (dwarf_first(die, &w); w.more; dwarf_next(&w)) {
		int tag = dwarf_tag(&w.die);

		if (tag == DW_TAG_formal_parameter)
			*dt_vec_add(&params, NULL) = type_of(d, &w.die, depth);
		varargs |= tag == DW_TAG_unspecified_parameters;
	}
	t = dt_type_function(d->r.object->ts, type_of(d, die, depth), params.v, params.n, varargs);
	dt_vec_free(&params);
	return t;
}

static dt_type *make_node(struct dwarf_reader *d, Dwarf_Die *die, int depth)
{
	dt_types *ts = d->r.object->ts;

	switch (dwarf_tag(die)) {
	case DW_TAG_base_type: return make_base(d, die);
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type: return dt_user_pointer(ts, type_of(d, die, depth));
	case DW_TAG_ptr_to_member_type: return make_member_pointer(d, die);
	case DW_TAG_array_type: return make_array(d, die, depth);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_interface_type: return make_sou(d, die, DT_K_STRUCT, depth);
	case DW_TAG_union_type: return make_sou(d, die, DT_K_UNION, depth);
	case DW_TAG_enumeration_type: return make_enum(d, die, depth);
	case DW_TAG_typedef:
	case DW_TAG_template_alias:
		return dt_user_typedef(&d->r, dwarf_diename(die), type_of(d, die, depth));
	case DW_TAG_const_type: return dt_type_qualify(ts, type_of(d, die, depth), DT_K_CONST);
	case DW_TAG_volatile_type:
		return dt_type_qualify(ts, type_of(d, die, depth), DT_K_VOLATILE);
	case DW_TAG_restrict_type:
		return dt_type_qualify(ts, type_of(d, die, depth), DT_K_RESTRICT);
	case DW_TAG_atomic_type:
	case DW_TAG_immutable_type:
	case DW_TAG_packed_type:
	case DW_TAG_shared_type:
	case DW_TAG_subrange_type: return type_of(d, die, depth);
	case DW_TAG_subroutine_type:
	case DW_TAG_subprogram: return make_function(d, die, depth);
	case DW_TAG_unspecified_type: return ts->in.void_;
	default: return ts->broken;
	}
}

/* dwarf_decl_file() would abort when the table of files is damaged or absent. */
static const char *declaring_file(Dwarf_Die *die)
{
	Dwarf_Files *files;
	Dwarf_Die unit;
	uint64_t index;
	size_t n;

	if (!dt_dwarf_number(die, DW_AT_decl_file, &index) ||
	    dwarf_diecu(die, &unit, NULL, NULL) == NULL ||
	    dwarf_getsrcfiles(&unit, &files, &n) != 0 || index >= n)
		return NULL;
	return dwarf_filesrc(files, index, NULL, NULL);
}

/* Where the source declares it; NULL when that is not known. */
static char *declaration_key(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die), *file;
	uint64_t size = 0, line, column = 0;

	switch (dwarf_tag(die)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_typedef: break;
	default: return NULL;
	}
	if (dwarf_hasattr(die, DW_AT_declaration) ||
	    !dt_dwarf_number(die, DW_AT_decl_line, &line) || (file = declaring_file(die)) == NULL)
		return NULL;
	dt_dwarf_number(die, DW_AT_byte_size, &size);
	dt_dwarf_number(die, DW_AT_decl_column, &column);
	return dt_xasprintf("%d:%llu:%llu:%llu:%s:%s", dwarf_tag(die), (unsigned long long)line,
			    (unsigned long long)column, (unsigned long long)size,
			    name != NULL ? name : "", file);
}

static dt_type *node_of(struct dwarf_reader *d, Dwarf_Die *die, int depth)
{
	dt_types *ts = d->r.object->ts;
	char key[32], *place;
	dt_type *t;

	if (depth > DT_USER_DEPTH)
		return ts->broken;
	snprintf(key, sizeof(key), "%p", die->addr);
	t = dt_map_get(d->nodes, key);
	if (t != NULL)
		return t;
	place = declaration_key(die);
	t = place != NULL ? dt_map_get(d->same, place) : NULL;
	if (t == NULL) {
		dt_map_set(d->nodes, key, ts->broken); /* what a cycle finds */
		t = make_node(d, die, depth + 1);
		if (place != NULL && t != ts->broken)
			dt_map_set(d->same, place, t);
	}
	dt_map_set(d->nodes, key, t);
	free(place);
	return t;
}

dt_type *dt_dwarf_node(struct dwarf_reader *d, Dwarf_Die *die)
{
	return node_of(d, die, 0);
}

/* ---- members ---- */

typedef DT_VEC(dt_member) member_list;

/* Where a member begins, in bytes; false when that is known at run time only. */
static bool member_offset(Dwarf_Die *die, uint64_t *offset)
{
	Dwarf_Attribute a;
	Dwarf_Op *ops;
	Dwarf_Word w;
	size_t n;

	*offset = 0;
	if (dwarf_attr(die, DW_AT_data_member_location, &a) == NULL)
		return true;
	if (dwarf_formudata(&a, &w) == 0) {
		*offset = w;
		return true;
	}
	if (dwarf_getlocation(&a, &ops, &n) != 0 || n != 1 || ops[0].atom != DW_OP_plus_uconst)
		return false;
	*offset = ops[0].number;
	return true;
}

/* DW_AT_data_bit_offset counts from the start of the struct; DW_AT_bit_offset, which it replaced,
 * from the most significant bit of a storage unit. */
static void place_bits(dt_types *ts, Dwarf_Die *die, dt_member *m)
{
	uint64_t width, at, unit;

	if (!dt_dwarf_number(die, DW_AT_bit_size, &width) || width == 0 || width > 128)
		return;
	m->bit_width = (uint32_t)width;
	if (dt_dwarf_number(die, DW_AT_data_bit_offset, &at)) {
		m->bit_offset = at;
	} else if (dt_dwarf_number(die, DW_AT_bit_offset, &at)) {
		if (!dt_dwarf_number(die, DW_AT_byte_size, &unit))
			unit = dt_type_size(ts, m->type);
		m->bit_offset += dt_size_mul(unit, 8) - at - width;
	}
}

static void add_member(struct dwarf_reader *d, member_list *list, Dwarf_Die *die, const char *name)
{
	dt_member m = {.name = name, .type = type_of(d, die, 0)};
	uint64_t offset;

	if (!member_offset(die, &offset))
		return;
	m.bit_offset = dt_size_mul(offset, 8);
	place_bits(d->r.object->ts, die, &m);
	*dt_vec_add(list, NULL) = m;
}

static bool is_virtual(Dwarf_Die *die)
{
	uint64_t v = 0;

	return dt_dwarf_number(die, DW_AT_virtuality, &v) && v != 0;
}

/* Rust's enums: the variants overlap, and the member DW_AT_discr tells which one is valid. */
static void add_variants(struct dwarf_reader *d, member_list *list, Dwarf_Die *part)
{
	struct dwarf_walk w, inner;

	for (dwarf_first(part, &w); w.more; dwarf_next(&w)) {
		if (dwarf_tag(&w.die) == DW_TAG_member) {
			const char *name = dwarf_diename(&w.die);

			add_member(d, list, &w.die, name != NULL ? name : "discriminant");
		}
		if (dwarf_tag(&w.die) != DW_TAG_variant)
			continue;
		for (dwarf_first(&w.die, &inner); inner.more; dwarf_next(&inner))
			if (dwarf_tag(&inner.die) == DW_TAG_member)
				add_member(d, list, &inner.die, dwarf_diename(&inner.die));
	}
}

static void read_members(struct dwarf_reader *d, Dwarf_Die *die, dt_type *sou)
{
	member_list list = {0};
	struct dwarf_walk w;

	for (dwarf_first(die, &w); w.more; dwarf_next(&w)) {
		switch (dwarf_tag(&w.die)) {
		case DW_TAG_member:
			if (!dwarf_hasattr(&w.die, DW_AT_declaration)) /* static */
				add_member(d, &list, &w.die, dwarf_diename(&w.die));
			break;
		case DW_TAG_inheritance:
			if (!is_virtual(&w.die))
				add_member(d, &list, &w.die, NULL);
			break;
		case DW_TAG_variant_part: add_variants(d, &list, &w.die); break;
		default: break;
		}
	}
	dt_user_set_members(sou, list.v, list.n);
	dt_vec_free(&list);
}

/* ---- enumerators ---- */

static bool enum_value(Dwarf_Die *die, int64_t *v)
{
	Dwarf_Attribute a;
	Dwarf_Sword s;
	Dwarf_Word u;

	if (dwarf_attr(die, DW_AT_const_value, &a) == NULL)
		return false;
	if (dwarf_whatform(&a) == DW_FORM_sdata || dwarf_whatform(&a) == DW_FORM_implicit_const) {
		if (dwarf_formsdata(&a, &s) != 0)
			return false;
		*v = s;
	} else {
		if (dwarf_formudata(&a, &u) != 0)
			return false;
		*v = (int64_t)u;
	}
	return true;
}

static void read_enumerators(Dwarf_Die *die, dt_type *e)
{
	DT_VEC(dt_enumerator) list = {0};
	struct dwarf_walk w;
	int64_t v;

	for (dwarf_first(die, &w); w.more; dwarf_next(&w))
		if (dwarf_tag(&w.die) == DW_TAG_enumerator && enum_value(&w.die, &v))
			*dt_vec_add(&list, NULL) = (dt_enumerator){dwarf_diename(&w.die), v};
	dt_user_set_enumerators(e, list.v, list.n);
	dt_vec_free(&list);
}

void dt_dwarf_complete(struct dt_user_reader *r, dt_type *t)
{
	Dwarf_Die die = *(const Dwarf_Die *)t->user_ref;

	if (t->kind == DT_K_ENUM)
		read_enumerators(&die, t);
	else
		read_members((struct dwarf_reader *)r, &die, t);
}

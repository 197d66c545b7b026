/*
 * ctf_type: CTF ids -> nodes of the store, each created when it is first reached.
 *
 * As for BTF (btf_type.c): derived types become the store's interned ones, structs and unions are
 * read on demand, and while a node is being created its place holds the broken type, so that a type
 * that contains itself ends there. A bit-field is a member whose type is a slice of an integer.
 */
#include <stdlib.h>

#include "type/ctf.h"

static dt_type *node_of(struct ctf_dict *d, uint32_t id, int depth);

static struct dt_user_reader *reader_of(const struct ctf_dict *d)
{
	return &d->reader->r;
}

static dt_types *types_of(const struct ctf_dict *d)
{
	return d->reader->r.object->ts;
}

/* ---- one maker per kind ---- */

static dt_type *make_int(struct ctf_dict *d, const ctf_stype_t *t)
{
	uint32_t encoding = CTF_INT_ENCODING(*(const uint32_t *)dt_ctf_behind(t));
	enum dt_user_encoding e = encoding & CTF_INT_SIGNED ? DT_USER_SIGNED : DT_USER_UNSIGNED;

	if (encoding & CTF_INT_BOOL)
		e = DT_USER_BOOL;
	else if (e == DT_USER_SIGNED && encoding & CTF_INT_CHAR)
		e = DT_USER_CHAR;
	return dt_user_base(reader_of(d), dt_ctf_string(d, t->ctt_name), dt_ctf_size(t), e);
}

static dt_type *make_float(struct ctf_dict *d, const ctf_stype_t *t)
{
	uint64_t size = dt_ctf_size(t);
	const char *half;

	switch (CTF_FP_ENCODING(*(const uint32_t *)dt_ctf_behind(t))) {
	case CTF_FP_SINGLE:
	case CTF_FP_DOUBLE:
	case CTF_FP_LDOUBLE:
		return dt_user_base(reader_of(d), dt_ctf_string(d, t->ctt_name), size,
				    DT_USER_FLOAT);
	case CTF_FP_CPLX:
	case CTF_FP_DCPLX:
	case CTF_FP_LDCPLX: /* real part, imaginary part */
		half = size == 8 ? "float" : size == 16 ? "double" : "long double";
		return dt_type_array(types_of(d),
				     dt_user_base(reader_of(d), half, size / 2, DT_USER_FLOAT), 2);
	default: return types_of(d)->broken;
	}
}

static dt_type *make_array(struct ctf_dict *d, const ctf_stype_t *t, int depth)
{
	const ctf_array_t *a = dt_ctf_behind(t);

	return dt_type_array(types_of(d), node_of(d, a->cta_contents, depth), a->cta_nelems);
}

/* A last parameter 0 stands for "...". */
static dt_type *make_function(struct ctf_dict *d, const ctf_stype_t *t, int depth)
{
	const uint32_t *ids = dt_ctf_behind(t);
	uint32_t n = CTF_V2_INFO_VLEN(t->ctt_info);
	bool varargs = n > 0 && ids[n - 1] == 0;
	dt_type **params, *f;

	n -= varargs;
	params = dt_xcalloc(n, sizeof(*params));
	for (uint32_t i = 0; i < n; i++)
		params[i] = node_of(d, ids[i], depth);
	f = dt_type_function(types_of(d), node_of(d, t->ctt_type, depth), params, n, varargs);
	free(params);
	return f;
}

static dt_type *make_lazy(struct ctf_dict *d, const ctf_stype_t *t, enum dt_kind kind)
{
	struct ctf_ref *ref = dt_arena_alloc(types_of(d)->arena, sizeof(*ref));
	dt_type *n;

	*ref = (struct ctf_ref){d, t};
	n = dt_user_lazy(reader_of(d), kind, dt_ctf_string(d, t->ctt_name), dt_ctf_size(t), ref);
	if (n->kind == DT_K_ENUM) { /* what sign it has depends on what is in it */
		dt_type_complete(types_of(d), n);
		n->is_signed = n->has_negative;
	}
	return n;
}

static dt_type *make_node(struct ctf_dict *d, const ctf_stype_t *t, int depth)
{
	dt_types *ts = types_of(d);
	const char *name = dt_ctf_string(d, t->ctt_name);

	switch (CTF_V2_INFO_KIND(t->ctt_info)) {
	case CTF_K_INTEGER: return make_int(d, t);
	case CTF_K_FLOAT: return make_float(d, t);
	case CTF_K_POINTER: return dt_user_pointer(ts, node_of(d, t->ctt_type, depth));
	case CTF_K_ARRAY: return make_array(d, t, depth);
	case CTF_K_FUNCTION: return make_function(d, t, depth);
	case CTF_K_STRUCT: return make_lazy(d, t, DT_K_STRUCT);
	case CTF_K_UNION: return make_lazy(d, t, DT_K_UNION);
	case CTF_K_ENUM: return make_lazy(d, t, DT_K_ENUM);
	case CTF_K_FORWARD:
		return dt_user_forward_node(reader_of(d), t->ctt_type == CTF_K_UNION, name, NULL);
	case CTF_K_TYPEDEF:
		return dt_user_typedef(reader_of(d), name, node_of(d, t->ctt_type, depth));
	case CTF_K_VOLATILE:
		return dt_type_qualify(ts, node_of(d, t->ctt_type, depth), DT_K_VOLATILE);
	case CTF_K_CONST: return dt_type_qualify(ts, node_of(d, t->ctt_type, depth), DT_K_CONST);
	case CTF_K_RESTRICT:
		return dt_type_qualify(ts, node_of(d, t->ctt_type, depth), DT_K_RESTRICT);
	case CTF_K_SLICE:
		return node_of(d, ((const ctf_slice_t *)dt_ctf_behind(t))->cts_type, depth);
	default: return ts->broken;
	}
}

static dt_type *node_of(struct ctf_dict *d, uint32_t id, int depth)
{
	struct ctf_dict *in;
	const ctf_stype_t *t = dt_ctf_at(d, id, &in);
	dt_type **slot;

	if (id == 0)
		return types_of(d)->in.void_;
	if (t == NULL || depth > DT_USER_DEPTH)
		return types_of(d)->broken;
	slot = &in->nodes[(id & ~CTF_CHILD) - 1];
	if (*slot == NULL) {
		*slot = types_of(d)->broken; /* what a cycle finds */
		*slot = make_node(in, t, depth + 1);
	}
	return *slot;
}

dt_type *dt_ctf_node(struct ctf_dict *d, uint32_t id)
{
	return node_of(d, id, 0);
}

/* ---- inside ---- */

/* The width is in the type: that of a slice, or of an integer with fewer bits than it has room for.
 */
static void place_bits(struct ctf_dict *d, uint32_t type, dt_member *m)
{
	struct ctf_dict *in;
	const ctf_stype_t *t = dt_ctf_at(d, type, &in);
	uint32_t bits = 0, offset = 0, data;

	if (t == NULL)
		return;
	if (CTF_V2_INFO_KIND(t->ctt_info) == CTF_K_SLICE) {
		const ctf_slice_t *s = dt_ctf_behind(t);

		bits = s->cts_bits;
		offset = s->cts_offset;
	} else if (CTF_V2_INFO_KIND(t->ctt_info) == CTF_K_INTEGER) {
		data = *(const uint32_t *)dt_ctf_behind(t);
		bits = CTF_INT_BITS(data);
		offset = CTF_INT_OFFSET(data);
	}
	if (bits == 0 || bits >= dt_type_size(types_of(d), m->type) * 8)
		return;
	m->bit_width = bits;
	m->bit_offset += offset;
}

static void read_members(struct ctf_dict *d, const ctf_stype_t *t, dt_type *sou)
{
	bool large = dt_ctf_size(t) >= CTF_LSTRUCT_THRESH;
	uint32_t n = CTF_V2_INFO_VLEN(t->ctt_info);
	dt_member *v = dt_xcalloc(n, sizeof(*v));

	for (uint32_t i = 0; i < n; i++) {
		const ctf_member_t *m = (const ctf_member_t *)dt_ctf_behind(t) + i;
		const ctf_lmember_t *l = (const ctf_lmember_t *)dt_ctf_behind(t) + i;
		uint32_t type = large ? l->ctlm_type : m->ctm_type;

		v[i].name = dt_ctf_string(d, large ? l->ctlm_name : m->ctm_name);
		v[i].bit_offset = large ? CTF_LMEM_OFFSET(l) : m->ctm_offset;
		v[i].type = node_of(d, type, 0);
		place_bits(d, type, &v[i]);
	}
	dt_user_set_members(sou, v, n);
	free(v);
}

static void read_enumerators(struct ctf_dict *d, const ctf_stype_t *t, dt_type *e)
{
	const ctf_enum_t *ce = dt_ctf_behind(t);
	uint32_t n = CTF_V2_INFO_VLEN(t->ctt_info);
	dt_enumerator *v = dt_xcalloc(n, sizeof(*v));

	for (uint32_t i = 0; i < n; i++)
		v[i] = (dt_enumerator){dt_ctf_string(d, ce[i].cte_name), ce[i].cte_value};
	dt_user_set_enumerators(e, v, n);
	free(v);
}

void dt_ctf_complete(struct dt_user_reader *r, dt_type *t)
{
	const struct ctf_ref *ref = t->user_ref;

	(void)r;
	if (t->kind == DT_K_ENUM)
		read_enumerators(ref->dict, ref->type, t);
	else
		read_members(ref->dict, ref->type, t);
}

/*
 * check_member: s.m, p->m, offsetof.
 *
 * The node gets the location of the member: its byte offset, and for a bit-field the bits inside
 * the storage unit that is loaded. Members of translated objects are replaced by the translator's
 * expression (check_xlate.c) and never reach the generator.
 */
#include "lang/check.h"

/* Does a unit of this many bytes at `offset` hold all bits of the field, inside the struct? */
static bool unit_fits(dt_node *n, uint64_t bits, uint64_t struct_size, uint64_t offset,
		      uint32_t bytes)
{
	if (bits < offset * 8 || bits + n->bit_width > (offset + bytes) * 8 ||
	    offset + bytes > struct_size)
		return false;
	n->offset = offset;
	n->bit_unit = (uint8_t)bytes;
	n->bit_offset = (uint8_t)(bits - offset * 8);
	return true;
}

/* The unit of the member's own type, if it is aligned and inside the struct, as it is unless the
 * struct is packed; else any other aligned one, else an unaligned one. */
static bool find_unit(dt_node *n, uint64_t bits, uint64_t struct_size, uint64_t own)
{
	if (own >= 1 && own <= 8 &&
	    unit_fits(n, bits, struct_size, bits / 8 / own * own, (uint32_t)own))
		return true;
	for (uint32_t u = 1; u <= 8; u *= 2)
		if (unit_fits(n, bits, struct_size, bits / 8 / u * u, u))
			return true;
	for (uint32_t u = 2; u <= 8; u *= 2)
		if (unit_fits(n, bits, struct_size, bits / 8, u) ||
		    (struct_size >= u && unit_fits(n, bits, struct_size, struct_size - u, u)))
			return true;
	return unit_fits(n, bits, UINT64_MAX, bits / 8, 8); /* five bytes of a struct of five */
}

static void place_member(dt_compiler *cc, dt_node *n, dt_type *t, const dt_member *m, uint64_t bits)
{
	n->offset = bits / 8;
	dt_set_object(n, m->type);
	if (m->bit_width == 0)
		return;
	n->flags |= NF_BITFIELD;
	n->bit_width = (uint8_t)m->bit_width;
	if (m->bit_width > 64 || !find_unit(n, bits, dt_type_size(cc->types, t), dt_type_size(cc->types, m->type)))
		dt_fail(cc, n->pos, D_TYPE_MEMBER, "bit-field %s is spread over more than 64 bits",
			n->name);
}

void dt_place_member(dt_compiler *cc, dt_node *n, dt_type *sou)
{
	uint64_t bits;
	const dt_member *m = dt_type_member(cc->types, sou, n->name, &bits);

	place_member(cc, n, sou, m, bits);
}

/* The struct or union that the left side denotes; errors name what was found instead. */
static dt_type *left_struct(dt_compiler *cc, dt_node *n)
{
	dt_type *t = dt_type_resolve(n->l->type);

	if (n->op == T_ARROW) {
		if (!dt_type_is_pointer(t) && !dt_type_is_array(t))
			dt_fail(cc, n->pos, D_OP_PTR,
				"operator -> must be applied to a pointer, not %s%s",
				dt_tname(cc, n->l->type),
				dt_type_is_sou(t) ? "; did you mean \".\"?" : "");
		t = dt_type_resolve(t->ref);
	}
	if (t->kind == DT_K_FORWARD)
		dt_fail(cc, n->pos, D_OP_INCOMPLETE,
			"operator %s cannot be applied to a forward declaration: no %s definition "
			"is available",
			dt_op_name(n->op), dt_tname(cc, t));
	if (!dt_type_is_sou(t)) {
		const char *why = dt_type_is_void(t) ? dt_types_kernel_problem(cc->types) : NULL;
		dt_fail(cc, n->pos, D_OP_SOU,
			"operator %s cannot be applied to type \"%s\"; must be applied to a struct "
			"or union%s%s%s%s",
			dt_op_name(n->op), dt_tname(cc, t),
			n->op == '.' && dt_type_is_pointer(t) ? "; did you mean \"->\"?" : "",
			why ? " (" : "", why ? why : "", why ? ")" : "");
	}
	return t;
}

static const dt_member *find_member(dt_compiler *cc, dt_type *t, dt_node *n, const char *name,
				    uint64_t *bits, enum dt_tag none)
{
	const dt_member *m = dt_type_member(cc->types, t, name, bits);
	const char **names;

	if (m)
		return m;
	if (!dt_type_is_complete(cc->types, t))
		dt_fail(cc, n->pos, D_OP_INCOMPLETE, "%s is incomplete: it has no members here",
			dt_tname(cc, t));
	names = dt_arena_alloc(cc->arena, (t->nmembers + 1) * sizeof(*names));
	for (uint32_t i = 0; i < t->nmembers; i++)
		names[i] = t->members[i].name ? t->members[i].name : "";
	dt_fail(cc, n->pos, none, "%s is not a member of %s%s", name, dt_tname(cc, t),
		dt_did_you_mean(name, names, t->nmembers).text);
}

static bool pointer_is_user(const dt_node *l)
{
	const dt_type *t = dt_type_resolve(l->type);

	return dt_type_is_pointer(t) ? t->userland : (l->flags & NF_USER) != 0;
}

dt_node *dt_check_member(dt_compiler *cc, dt_node *n)
{
	const dt_member *m;
	dt_type *t;
	uint64_t bits;

	n->l = dt_check(cc, n->l);
	if (n->l->kind == N_XLATE)
		return dt_expand_member(cc, n->l, n->name, n);
	if (dt_type_is_dyn(n->l->type))
		dt_fail(cc, n->pos, D_OP_DYN, "operator %s cannot be applied to a dynamic type",
			dt_op_name(n->op));
	t = left_struct(cc, n);
	m = find_member(cc, t, n, n->name, &bits, D_TYPE_MEMBER);
	n->flags |= NF_LVAL;
	if (n->op == T_ARROW ? pointer_is_user(n->l) : (n->l->flags & NF_USER) != 0)
		n->flags |= NF_USER;
	else if (n->op == T_ARROW || (n->l->flags & NF_WRITABLE))
		n->flags |= NF_WRITABLE;
	place_member(cc, n, t, m, bits);
	dt_user_pointer_read(cc, n);
	n->attr = n->l->attr;
	return n;
}

/* offsetof(type, a.b.c) */
dt_node *dt_check_offsetof(dt_compiler *cc, dt_node *n)
{
	dt_type *t = dt_type_resolve(n->ctype);
	char *path = dt_arena_strdup(cc->arena, n->name), *save = NULL;
	uint64_t total = 0, bits;

	for (char *part = strtok_r(path, ".", &save); part; part = strtok_r(NULL, ".", &save)) {
		const dt_member *m;
		if (!dt_type_is_sou(t) || !dt_type_is_complete(cc->types, t))
			dt_fail(cc, n->pos, D_OFFSETOF_TYPE,
				"offsetof operand must be a complete struct or union type, not %s",
				dt_tname(cc, t));
		m = find_member(cc, t, n, part, &bits, D_UNKNOWN);
		if (m->bit_width)
			dt_fail(cc, n->pos, D_OFFSETOF_BITFIELD,
				"cannot take the offset of a bit-field: %s", part);
		total += bits;
		t = dt_type_resolve(m->type);
	}
	return dt_node_int(cc, n->pos, total / 8, dt_intrinsics(cc->types)->size);
}

void dt_check_offsets(dt_compiler *cc, const dt_node *n)
{
	for (; n; n = n->l) { /* chains are deep on the left */
		if (n->kind == N_OP2 && n->op == T_OTHERWISE)
			return;
		if (n->kind == N_OFFSETOF)
			dt_check_offsetof(cc, dt_node_copy(cc, n));
		dt_check_offsets(cc, n->c);
		dt_check_offsets(cc, n->r);
		for (const dt_node *a = n->args; a; a = a->next)
			dt_check_offsets(cc, a);
	}
}

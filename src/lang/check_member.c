/*
 * check_member: s.m, p->m, offsetof.
 *
 * The node learns where the member lies: byte offset, and for a bit-field the bits inside the
 * storage unit that is loaded. Members of translated objects are replaced by the translator's
 * expression (check_xlate.c) and never reach the generator.
 */
#include "lang/check.h"

static void place_member(dt_compiler *cc, dt_node *n, const dt_member *m, uint64_t bits)
{
	uint64_t unit = dt_type_size(cc->types, m->type) * 8;

	n->offset = bits / 8;
	dt_set_object(n, m->type);
	if (m->bit_width == 0)
		return;
	n->flags |= NF_BITFIELD;
	n->bit_width = m->bit_width;
	if (unit == 0)
		unit = 32;
	/* The aligned unit if the field fits there, else (packed) from its own byte on. */
	if (bits % unit + m->bit_width <= unit)
		n->offset = bits / unit * unit / 8;
	n->bit_offset = (uint32_t)(bits - n->offset * 8);
	if (n->bit_offset + n->bit_width > unit)
		dt_fail(cc, n->pos, D_TYPE_MEMBER, "bit-field %s crosses its storage unit", n->name);
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
			"is available", dt_op_name(n->op), dt_tname(cc, t));
	if (!dt_type_is_sou(t)) {
		const char *why = dt_type_is_void(t) ? dt_types_kernel_problem(cc->types) : NULL;
		dt_fail(cc, n->pos, D_OP_SOU,
			"operator %s cannot be applied to type \"%s\"; must be applied to a struct "
			"or union%s%s%s%s", dt_op_name(n->op), dt_tname(cc, t),
			n->op == '.' && dt_type_is_pointer(t) ? "; did you mean \"->\"?" : "",
			why ? " (" : "", why ? why : "", why ? ")" : "");
	}
	return t;
}

static const dt_member *find_member(dt_compiler *cc, dt_type *t, dt_node *n, const char *name,
				    uint64_t *bits)
{
	const dt_member *m = dt_type_member(cc->types, t, name, bits);
	const char **names, *near;

	if (m)
		return m;
	if (!dt_type_is_complete(cc->types, t))
		dt_fail(cc, n->pos, D_OP_INCOMPLETE, "%s is incomplete: it has no members here",
			dt_tname(cc, t));
	names = dt_arena_alloc(cc->arena, (t->nmembers + 1) * sizeof(*names));
	for (uint32_t i = 0; i < t->nmembers; i++)
		names[i] = t->members[i].name ? t->members[i].name : "";
	near = dt_nearest(name, names, t->nmembers);
	dt_fail(cc, n->pos, D_TYPE_MEMBER, "%s is not a member of %s%s%s%s", name, dt_tname(cc, t),
		near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
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

	n->l = dt_check_value(cc, n->l);
	if (n->l->kind == N_XLATE)
		return dt_expand_member(cc, n->l, n->name, n->pos);
	if (dt_type_is_dyn(n->l->type))
		dt_fail(cc, n->pos, D_OP_DYN, "operator %s cannot be applied to a dynamic type",
			dt_op_name(n->op));
	t = left_struct(cc, n);
	m = find_member(cc, t, n, n->name, &bits);
	n->flags |= NF_LVAL;
	if (n->op == T_ARROW ? pointer_is_user(n->l) : (n->l->flags & NF_USER) != 0)
		n->flags |= NF_USER;
	else if (n->op == T_ARROW || (n->l->flags & NF_WRITABLE))
		n->flags |= NF_WRITABLE;
	place_member(cc, n, m, bits);
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
		if (!dt_type_is_sou(t))
			dt_fail(cc, n->pos, D_OFFSETOF_TYPE,
				"offsetof operand must be a struct or union type, not %s",
				dt_tname(cc, t));
		m = find_member(cc, t, n, part, &bits);
		if (m->bit_width)
			dt_fail(cc, n->pos, D_OFFSETOF_BITFIELD,
				"cannot take the offset of a bit-field: %s", part);
		total += bits;
		t = dt_type_resolve(m->type);
	}
	return dt_node_int(cc, n->pos, total / 8, dt_intrinsics(cc->types)->size);
}

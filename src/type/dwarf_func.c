/*
 * dwarf_func: the parameters of a function, and which of them C++ passes by reference.
 *
 * An object of a class that cannot be copied byte by byte is passed and returned by reference.
 * clang records this for a class (DW_AT_calling_convention); g++ does not, so it is inferred from
 * the causes: a user-defined copy or move constructor or destructor, something virtual, or a base
 * or member of such a class.
 */
#include "type/dwarf.h"

#define MAX_CLASSES                                                                                \
	10000 /* examined for one class; in a damaged file a class can contain itself */

static bool not_trivial(Dwarf_Die *class, int depth, uint32_t *left);

/* The class that a DIE's DW_AT_type refers to, if it is one: through typedefs, qualifiers, and of
 * arrays their elements. */
static bool class_of(Dwarf_Die *die, bool through_references, Dwarf_Die *out)
{
	if (!dt_dwarf_referred(die, DW_AT_type, out))
		return false;
	for (int i = 0; i < DT_USER_DEPTH; i++) {
		Dwarf_Die to;

		switch (dwarf_tag(out)) {
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
			if (dt_dwarf_referred(out, DW_AT_signature, &to))
				*out = to;
			return true;
		case DW_TAG_reference_type:
		case DW_TAG_rvalue_reference_type:
			if (!through_references)
				return false;
			break;
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_array_type: break;
		default: return false;
		}
		if (!dt_dwarf_referred(out, DW_AT_type, &to))
			return false;
		*out = to;
	}
	return false;
}

/* Is the second parameter, after `this`, a reference to the class? */
static bool takes_reference_to(Dwarf_Die *function, const Dwarf_Die *class)
{
	struct dwarf_walk w;
	Dwarf_Die to;
	int n = 0;

	for (dwarf_first(function, &w); w.more; dwarf_next(&w))
		if (dwarf_tag(&w.die) == DW_TAG_formal_parameter && ++n == 2)
			return !class_of(&w.die, false, &to) && class_of(&w.die, true, &to) &&
			       to.addr == class->addr;
	return false;
}

/* A name without its template arguments. */
static bool same_name(const char *name, const char *class)
{
	size_t n = strcspn(class, "<");

	return strlen(name) == n && memcmp(name, class, n) == 0;
}

static bool makes_not_trivial(Dwarf_Die *function, Dwarf_Die *class)
{
	const char *name = dwarf_diename(function), *class_name = dwarf_diename(class);
	uint64_t v = 0;

	if (dt_dwarf_number(function, DW_AT_virtuality, &v) && v != 0)
		return true;
	if (name == NULL || class_name == NULL || dwarf_hasattr(function, DW_AT_artificial) ||
	    dwarf_hasattr(function, DW_AT_defaulted) || dwarf_hasattr(function, DW_AT_deleted))
		return false;
	return name[0] == '~' ||
	       (same_name(name, class_name) && takes_reference_to(function, class));
}

static bool not_trivial(Dwarf_Die *class, int depth, uint32_t *left)
{
	struct dwarf_walk w;
	Dwarf_Die inner;
	uint64_t v = 0;

	if (dt_dwarf_number(class, DW_AT_calling_convention, &v))
		return v == DW_CC_pass_by_reference;
	if (depth > 32 || *left == 0)
		return false;
	--*left;
	for (dwarf_first(class, &w); w.more; dwarf_next(&w)) {
		switch (dwarf_tag(&w.die)) {
		case DW_TAG_subprogram:
			if (makes_not_trivial(&w.die, class))
				return true;
			break;
		case DW_TAG_inheritance:
			if (dt_dwarf_number(&w.die, DW_AT_virtuality, &v) && v != 0)
				return true;
			/* fall through */
		case DW_TAG_member:
			if (!dwarf_hasattr(&w.die, DW_AT_declaration) &&
			    class_of(&w.die, false, &inner) && not_trivial(&inner, depth + 1, left))
				return true;
			break;
		default: break;
		}
	}
	return false;
}

static bool passed_by_reference(Dwarf_Die *die)
{
	uint32_t left = MAX_CLASSES;
	Dwarf_Die class;

	return class_of(die, false, &class) && not_trivial(&class, 0, &left);
}

static bool has_parameters(Dwarf_Die *die)
{
	struct dwarf_walk w;

	for (dwarf_first(die, &w); w.more; dwarf_next(&w))
		if (dwarf_tag(&w.die) == DW_TAG_formal_parameter)
			return true;
	return false;
}

static void read_convention(Dwarf_Die *die, struct dt_user_function *f)
{
	uint64_t convention;
	Dwarf_Die unit;
	int lang = dwarf_diecu(die, &unit, NULL, NULL) != NULL ? dwarf_srclang(&unit) : 0;

	if (dt_dwarf_number(die, DW_AT_calling_convention, &convention) &&
	    convention == DW_CC_nocall)
		f->unusual = "the compiler gave it a calling convention of its own";
	if (lang == DW_LANG_Go)
		f->unusual = "Go passes arguments in its own way";
	f->scalars_only = lang == DW_LANG_Rust;
}

void dt_dwarf_function(struct dwarf_reader *d, Dwarf_Die *die, struct dt_user_function *f)
{
	dt_arena *arena = d->r.object->ts->arena;
	DT_VEC(dt_type *) params = {0};
	DT_VEC(bool) by_reference = {0};
	Dwarf_Die source = *die, origin;
	struct dwarf_walk w;

	/* The declaration that an inlinable function or a method refers to has all parameters in
	 * order. */
	if (dt_dwarf_referred(die, DW_AT_abstract_origin, &origin) ||
	    (!has_parameters(die) && dt_dwarf_referred(die, DW_AT_specification, &origin)))
		source = origin;
	for (dwarf_first(&source, &w); w.more; dwarf_next(&w)) {
		const char *name;

		if (dwarf_tag(&w.die) != DW_TAG_formal_parameter)
			continue;
		name = dwarf_diename(&w.die);
		if (name != NULL && strcmp(name, "__in_chrg") == 0)
			continue; /* g++ describes it but never passes it */
		*dt_vec_add(&params, NULL) = dt_dwarf_type_of(d, &w.die);
		*dt_vec_add(&by_reference, NULL) = passed_by_reference(&w.die);
	}
	f->ret = dt_dwarf_type_of(d, die);
	f->ret_by_reference = passed_by_reference(die);
	f->nparams = params.n;
	f->params = dt_arena_dup(arena, params.v, params.n * sizeof(*params.v));
	f->by_reference =
	    dt_arena_dup(arena, by_reference.v, by_reference.n * sizeof(*by_reference.v));
	read_convention(die, f);
	dt_vec_free(&params);
	dt_vec_free(&by_reference);
}

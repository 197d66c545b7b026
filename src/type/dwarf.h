/*
 * dwarf: shared by dwarf.c, which finds DIEs, dwarf_type.c, which creates nodes from them, and
 * dwarf_func.c, which reads parameters and results of functions.
 */
#ifndef DT_TYPE_DWARF_H
#define DT_TYPE_DWARF_H

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "type/user_store.h"

/* Which look-ups find a name: bits of enum dt_namespace, and this. */
#define DWARF_VARIABLE 4

struct dwarf_name { /* 64 bytes */
	const char *name;
	const char *scope; /* "a::b"; "" outside of namespaces */
	Dwarf_Die die;
	uint32_t hash;
	uint32_t next;	/* index + 1 in the chain of its hash; 0 ends it */
	uint32_t where; /* 1 << DT_NS_*, 1 << DWARF_VARIABLE */
};

struct dwarf_function {
	uint64_t address;
	Dwarf_Die die;
};

struct dwarf_unit {
	Dwarf_Die die;
	bool indexed; /* its functions are in `functions`, by address */
	DT_VEC(struct dwarf_function) functions;
};

struct dwarf_range { /* of code */
	uint64_t low, high;
	uint32_t unit;
};

struct dwarf_reader {
	struct dt_user_reader r;
	Dwarf *dw;
	Elf *elf; /* under dw, of a file of another user; else NULL */
	/* names of the units read so far */
	Dwarf *
	    names_dw; /* whose units are being read: dw, then its alternative file; NULL: all are */
	Dwarf_CU *names_cu;
	bool has_classes; /* some unit is not in C */
	bool nested;	  /* second pass over the units: nested types as well */
	DT_VEC(struct dwarf_name) names;
	uint32_t *heads, mask;
	/* code */
	bool units_listed;
	DT_VEC(struct dwarf_unit) units;
	DT_VEC(struct dwarf_range) ranges; /* by low */
	/* nodes */
	dt_map *nodes; /* address of the DIE -> node */
	dt_map *same;  /* declaration in the source -> node */
	char *damage;  /* heap */
};

/* The children of a DIE, in order. libdw trusts the file about siblings, so progress is enforced
 * here. */
struct dwarf_walk {
	Dwarf_Die die;
	bool more;
};
static inline bool dwarf_first(Dwarf_Die *parent, struct dwarf_walk *w)
{
	return w->more = dwarf_child(parent, &w->die) == 0;
}
static inline bool dwarf_next(struct dwarf_walk *w)
{
	const void *before = w->die.addr;
	Dwarf_Die next;

	w->more =
	    dwarf_siblingof(&w->die, &next) == 0 && (const char *)next.addr > (const char *)before;
	if (w->more)
		w->die = next;
	return w->more;
}

/* ---- dwarf_type.c ---- */
dt_type *dt_dwarf_node(struct dwarf_reader *d, Dwarf_Die *die);
void dt_dwarf_complete(struct dt_user_reader *r, dt_type *t);
/* The type that a DIE refers to by DW_AT_type, its own or its declaration's; void when it has none.
 */
dt_type *dt_dwarf_type_of(struct dwarf_reader *d, Dwarf_Die *die);
bool dt_dwarf_number(Dwarf_Die *die, unsigned attr, uint64_t *v);
/* The DIE that an attribute of this one, or of its declaration, refers to. */
bool dt_dwarf_referred(Dwarf_Die *die, unsigned attr, Dwarf_Die *to);

/* ---- dwarf_func.c ---- */
void dt_dwarf_function(struct dwarf_reader *d, Dwarf_Die *die, struct dt_user_function *f);

#endif

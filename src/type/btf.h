/*
 * btf: one BTF image in memory, as btf.c checks and indexes it and btf_type.c reads it.
 */
#ifndef DT_TYPE_BTF_H
#define DT_TYPE_BTF_H

#include <linux/btf.h>

#include "type/store.h"

#define DT_BTF_GROUPS 3 /* of kinds: structures and the like, functions and variables, typedefs and base types */

#define DT_BTF_PARTS 5

/* The types that were found so far, all records checked to be inside. */
struct dt_btf_list {
	uint32_t at, n;	       /* where they end, and their number */
	bool partial;	       /* an unknown kind ended the list early */
	uint32_t *offsets;     /* of some types in `types` (btf.c) */
	uint32_t *tags, ntags; /* offsets of the structures, unions and enums, ascending */
};

struct dt_btf {
	dt_types *ts;
	const char *module;  /* "vmlinux" or the module's name; store's arena */
	struct dt_btf *base; /* split BTF: ids and strings below ours are the base's */
	const char *data;    /* the whole file */
	size_t len;
	bool mapped;	     /* munmap, else free */
	const char *types;   /* type section; 4-byte aligned */
	uint32_t types_len;
	const char *strings; /* string section; ends with NUL unless empty */
	uint32_t strings_len;
	uint32_t first_string; /* offset that our first string has */
	uint32_t first_id;     /* id of our first type; 1 without a base */
	struct dt_btf_list *list;
	uint32_t lookups[DT_BTF_GROUPS]; /* by name, without the index */
	struct dt_btf_index { /* types by name: chains of n + 1, in order of id; 0 ends one. Built when worthwhile */
		uint32_t *heads, *next;
		uint32_t mask;
	} names[DT_BTF_GROUPS]; /* but group 0, which is indexed by parts: */
	struct dt_btf_part {
		struct dt_btf_index names;
		uint32_t first, end; /* tags */
	} parts[DT_BTF_PARTS];
	dt_type **nodes; /* made so far, by id - first_id */
	/* enumerators by name; built at the first lookup */
	struct dt_btf_enumerator {
		uint32_t id, nth;
	} * enumerators;
	struct dt_btf_index enum_names;
};

uint32_t dt_btf_count(const struct dt_btf *b); /* of all our types */
/* NULL for void (0) and for ids that do not exist. */
const struct btf_type *dt_btf_at(const struct dt_btf *b, uint32_t id);
/* The record after this one, which is not the last. Much faster than dt_btf_at() for each. */
const struct btf_type *dt_btf_next(const struct btf_type *t);
const char *dt_btf_string(const struct dt_btf *b, uint32_t offset); /* "" when out of range */
/* The next of this image's own strings that begins with the prefix, from *at on; NULL: none. */
const char *dt_btf_next_string(const struct dt_btf *b, uint32_t *at, const char *prefix);
/* The lowest id of that name in this image (not its base) whose kind is in the set; 0 if none.
 * Enums without enumerators are forward declarations and not found. The kinds are all of one group (btf.c). */
uint32_t dt_btf_find(struct dt_btf *b, const char *name, uint32_t kinds);

/* A hash index for this many names of n things, filled from the last to the first so that the first
 * is found first. Chains, not probing: a file in which all names are equal must not take quadratic
 * time. */
void dt_btf_index_init(struct dt_btf_index *x, uint32_t names, uint32_t n);
void dt_btf_index_add(struct dt_btf_index *x, uint32_t i, const char *name);
static inline uint32_t dt_btf_index_first(const struct dt_btf_index *x, const char *name)
{
	return x->heads[(uint32_t)dt_hash_bytes(name, strlen(name)) & x->mask];
}
void dt_btf_index_free(struct dt_btf_index *x);

#define DT_BTF_KIND(k) (1u << (k))

static inline uint32_t dt_btf_kind(const struct btf_type *t)
{
	return BTF_INFO_KIND(t->info);
}

static inline uint32_t dt_btf_vlen(const struct btf_type *t)
{
	return BTF_INFO_VLEN(t->info);
}

#endif

/*
 * ctf: shared by ctf.c, which checks and indexes a .ctf section, and ctf_type.c, which creates
 * nodes from it.
 *
 * <ctf.h> of binutils has the structures and numbers of the format. Its library is not used: it
 * trusts the file and crashes on damaged ones (27 of 1000 with one to four random bytes changed).
 */
#ifndef DT_TYPE_CTF_H
#define DT_TYPE_CTF_H

#include <ctf.h>

#include "type/btf.h"
#include "type/user_store.h"

#define CTF_CHILD 0x80000000u /* ids from here on are those of a dictionary with a parent */

struct ctf_symbols { /* types of symbols: ids, and what names them */
	const uint32_t *ids;
	uint32_t n;
	const uint32_t *names; /* NULL: they come in the order of the symbol table */
};

struct ctf_dict {
	struct ctf_reader *reader;
	struct ctf_dict *parent; /* NULL: this one has none */
	uint8_t *body;		 /* heap; all sections */
	const char *strings;
	uint32_t strings_len;
	const char *outer; /* the string table of the ELF file; its last byte is NUL */
	uint64_t outer_len;
	bool dynamic; /* symbols are those of .dynsym */
	uint32_t n;   /* types */
	uint32_t *offsets;
	struct dt_btf_index names;
	struct ctf_symbols objects, functions;
	dt_type **nodes;
};

struct ctf_reader {
	struct dt_user_reader r;
	struct ctf_dict *dicts; /* the first is the shared one, the parent of the others */
	uint32_t ndicts;
	dt_elf *elf; /* that the section is in */
};

/* Identifies a lazy node. */
struct ctf_ref {
	struct ctf_dict *dict;
	const ctf_stype_t *type;
};

/* ---- ctf.c ---- */
const char *dt_ctf_string(const struct ctf_dict *d, uint32_t ref); /* "" when out of range */
/* NULL for 0 and for ids that do not exist; *in gets the dictionary it is in. */
const ctf_stype_t *dt_ctf_at(struct ctf_dict *d, uint32_t id, struct ctf_dict **in);
const void *dt_ctf_behind(const ctf_stype_t *t); /* the data after the record */
uint64_t dt_ctf_size(const ctf_stype_t *t);

/* ---- ctf_type.c ---- */
dt_type *dt_ctf_node(struct ctf_dict *d, uint32_t id);
void dt_ctf_complete(struct dt_user_reader *r, dt_type *t);

#endif

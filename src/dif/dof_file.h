/*
 * dof_file: the bytes of a DOF file, shared by its writer, reader and printer.
 *
 * Section references are indices into the section table, strings are offsets into a STRTAB section.
 * All numbers are in the byte order of the machine.
 *
 * Two additions are ours, for what DTrace keeps only in the memory of its library:
 *
 *   - the `uarg` word of an action: 1 + the DIFO section of a quantizer's increment, or 0;
 *     of an ECB: 1 + the number of the source clause, or 0.
 *   - the sections STATEMENTS and AGGREFS: which actions make one statement, what the consumer
 *     does with it, and the names of the aggregations it is about. Without them statements are
 *     rebuilt from the kinds of the actions (dof_stmt.c).
 */
#ifndef DT_DOF_FILE_H
#define DT_DOF_FILE_H

#include "dif/dof.h"

#define DOF_NONE     0xffffffffu /* no section, no string */
#define DOF_LOAD     1u		 /* section flag */
#define DOF_REL_SETX 1u		 /* relocation type */

enum { /* places in ident[16] */
       DOF_ID_MAGIC = 0,
       DOF_ID_MODEL = 4,
       DOF_ID_ENCODING,
       DOF_ID_VERSION,
       DOF_ID_DIFVERS,
       DOF_ID_IREGS,
       DOF_ID_TREGS,
       DOF_ID_PAD,
       DOF_ID_SIZE = 16
};
#define DOF_MAGIC      "\177DOF"
#define DOF_MODEL_LP64 2
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define DOF_ENCODING 1
#else
#define DOF_ENCODING 2
#endif
#define DOF_VERSION_MAX 2

struct dof_hdr {
	uint8_t ident[DOF_ID_SIZE];
	uint32_t flags, hdrsize, secsize, secnum;
	uint64_t secoff, loadsz, filesz, pad;
};
struct dof_sec {
	uint32_t type, align, flags, entsize;
	uint64_t offset, size;
};
struct dof_ecb {
	uint32_t probes, pred, actions, pad;
	uint64_t uarg;
};
struct dof_probedesc {
	uint32_t strtab, prov, mod, func, name, id;
};
struct dof_act {
	uint32_t difo, strtab, kind, ntuple;
	uint64_t arg, uarg; /* with a strtab, arg is the offset of a string */
};
struct dof_difohdr {
	dt_diftype rtype; /* then section indices */
};
struct dof_relhdr {
	uint32_t strtab, relsec, tgtsec;
};
struct dof_rel {
	uint32_t name, type;
	uint64_t offset, data;
};
struct dof_opt {
	uint32_t number, strtab;
	uint64_t value;
};
struct dof_provider {
	uint32_t strtab, probes, prargs, proffs, name, attrs[5];
	uint32_t prenoffs; /* version 2 */
};
struct dof_probe {
	uint64_t addr;
	uint32_t func, name, nargv, xargv, argidx, offidx;
	uint8_t nargc, xargc;
	uint16_t noffs;
	uint32_t enoffidx;
	uint16_t nenoffs, pad1;
	uint32_t pad2;
};
struct dof_stmt {
	uint32_t actions, first, nactions, kind; /* section, range in it, enum dt_stmt_kind */
	uint32_t first_agg, naggs;		 /* in AGGREFS */
	uint64_t arg; /* of the first action, if a string took its place */
};
struct dof_aggref {
	uint32_t strtab, name, id, pad;
};

_Static_assert(sizeof(struct dof_hdr) == 64 && sizeof(struct dof_sec) == 32, "DOF layout");
_Static_assert(sizeof(struct dof_ecb) == 24 && sizeof(struct dof_probedesc) == 24, "DOF layout");
_Static_assert(sizeof(struct dof_act) == 32 && sizeof(struct dof_relhdr) == 12, "DOF layout");
_Static_assert(sizeof(struct dof_rel) == 24 && sizeof(struct dof_opt) == 16, "DOF layout");
_Static_assert(sizeof(struct dof_probe) == 48 && sizeof(dt_difvar) == 20, "DOF layout");
_Static_assert(sizeof(dt_diftype) == 8 && sizeof(struct dof_stmt) == 32, "DOF layout");

/* ---- dof_file.c: an image whose header and section table have been checked ---- */
typedef struct dt_dof_image {
	const uint8_t *data;
	size_t n;
	struct dof_hdr hdr;
	uint32_t nsecs;
	dt_error *err; /* where errors go */
} dt_dof_image;

int dt_dof_open(dt_dof_image *im, const void *data, size_t n, dt_error *err);
struct dof_sec dt_dof_section(const dt_dof_image *im, uint32_t index); /* index < nsecs */
const char *dt_dof_type_name(uint32_t type, char scratch[24]);
/* Size of one entry; 0: no table. What the writer puts into the section header. */
uint32_t dt_dof_entry_size(uint32_t type);
/* Complain about a section: "DOF section 3 (ACTDESC): why". Returns -1. */
int dt_dof_bad(const dt_dof_image *im, uint32_t index, const char *fmt, ...) DT_PRINTF(3, 4);
/* The section `index`, named by section `from`, must exist and be of that type: its bytes. */
const uint8_t *dt_dof_payload(const dt_dof_image *im, uint32_t from, uint32_t index, uint32_t type,
			      size_t *size);
/* The same for tables: checks the entry size; *count entries. */
const uint8_t *dt_dof_table(const dt_dof_image *im, uint32_t from, uint32_t index, uint32_t type,
			    uint32_t *count);
/* A string of a STRTAB section, in place; at most max bytes without the NUL (0: any length).
 * NULL: error reported. */
const char *dt_dof_string(const dt_dof_image *im, uint32_t from, uint32_t strtab, uint64_t offset,
			  size_t max);

/* ---- dof_stmt.c ---- */
struct dof_act_info {	    /* beside each action read */
	const char *string; /* NULL: none */
	uint64_t uarg;
};
typedef struct dt_dof_aggs {
	DT_VEC(dt_agg *) v; /* in order of id */
} dt_dof_aggs;
/* One statement, as in the STATEMENTS section. */
struct dof_stmt_hint {
	struct dof_stmt s;
	const uint32_t *ids;
	const char *const *names;
};
/* Actions -> statements; fills sizes and alignments of the actions. 0, or -1 with *err. */
int dt_dof_stmts(dt_arena *a, dt_action *acts, const struct dof_act_info *info, uint32_t nacts,
		 const struct dof_stmt_hint *hints, uint32_t nhints, dt_dof_aggs *aggs,
		 dt_stmt **out, uint32_t *nout, dt_error *err);
/* Once all aggregations are known: does a printa() match its aggregations? */
int dt_dof_check_printa(const dt_stmt *s, dt_error *err);

#endif

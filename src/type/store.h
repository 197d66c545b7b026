/*
 * store: shared by the files of src/type; private to the module.
 *
 *   store.c         nodes, interning, containers, the order of look-up
 *   intrinsic.c     the types D has without any declaration
 *   c_layout.c      offsets of members of D-declared structs
 *   query.c         queries about one type
 *   relate.c        queries about two: compatibility, promotion, usual conversions
 *   type_print.c    C spellings
 *   btf.c           one BTF image: validation and name index
 *   btf_type.c      BTF ids -> nodes
 *   kernel_types.c  which BTF images there are: vmlinux and modules
 *
 * Types of user programs have headers of their own: user.h, user_store.h.
 */
#ifndef DT_TYPE_STORE_H
#define DT_TYPE_STORE_H

#include "type/type.h"

/* Sizes saturate here: eight times it still fits 64 bits, so bit offsets cannot overflow. */
#define DT_SIZE_LIMIT ((uint64_t)1 << 60)

/* C's base types, by their canonical spelling (intrinsic.c has the table). */
enum dt_base {
	B_VOID,
	B_BOOL,
	B_CHAR,
	B_SCHAR,
	B_UCHAR,
	B_SHORT,
	B_USHORT,
	B_INT,
	B_UINT,
	B_LONG,
	B_ULONG,
	B_LLONG,
	B_ULLONG,
	B_FLOAT,
	B_DOUBLE,
	B_LDOUBLE,
	B_COUNT
};

/* Named types of the program ("D") or of -C headers ("C"). */
struct dt_container {
	const char *name;
	dt_map *names[4];    /* by enum dt_namespace */
	dt_map *enumerators; /* name -> struct dt_enum_ref */
};

struct dt_enum_ref {
	dt_type *type;
	int64_t value;
};

struct dt_layout; /* c_layout.c: a struct that is being filled */

struct dt_types {
	dt_arena *arena;
	struct dt_intrinsics in;
	dt_type *base[B_COUNT];
	dt_type *broken; /* stands for invalid types in hostile or damaged BTF: unknown, size 0 */
	dt_map *intrinsic_names;
	dt_map *derived; /* arrays and functions, by a key made of their parts */
	struct dt_container c, d;
	bool headers_hidden; /* c is not searched */
	struct dt_layout *open;
	/* kernel_types.c */
	char *btf_dir;			/* NULL: kernel types are turned off */
	DT_VEC(struct dt_btf *) images; /* all that were opened */
	struct dt_btf *vmlinux;
	bool vmlinux_tried;
	char *problem;	 /* why there is no vmlinux */
	bool types_used; /* vmlinux was opened for types, not only for offsets */
	dt_map *members; /* dt_kernel_offset(): "type path" -> offset + 1 */
	dt_map *ids;	 /* dt_kernel_id(): name -> id + 1 */
	dt_map *modules; /* name -> struct dt_btf *, or no_module when it could not be read */
	bool modules_listed;
	DT_VEC(const char *) tracepoints; /* names; empty until dt_tracepoint_next() */
	dt_map *tracepoint_names;	  /* the same; NULL until dt_tracepoint_exists() */
	/* user.c */
	const struct dt_user_source *user_source; /* NULL: no processes available */
	dt_map *user_files;			  /* identity of a file -> struct dt_user_object * */
	dt_map *user_places;			  /* process and object -> where that is */
	uint32_t user_owner;			  /* whose files, besides root's, are believed: our user */
	int user_alt; /* helper: what dwz took out of its object; -1: none */
	dt_map *user_paths;			  /* path -> struct dt_user_object * (user_args.c) */
};

/* ---- store.c ---- */
dt_type *dt_type_node(dt_types *ts, enum dt_kind kind, const char *name);
uint64_t dt_size_mul(uint64_t a, uint64_t b); /* saturating */
uint64_t dt_size_add(uint64_t a, uint64_t b);

/* ---- intrinsic.c ---- */
void dt_intrinsics_make(dt_types *ts);
/* "long unsigned int" and every other C spelling of a base type; NULL if it is not one. */
dt_type *dt_base_by_spelling(const dt_types *ts, const char *spelling);

/* ---- btf.c ---- */
/* NULL and *problem (heap) when the file cannot be used. base: NULL, or vmlinux for a module. */
struct dt_btf *dt_btf_open(dt_types *ts, const char *path, const char *module, struct dt_btf *base,
			   char **problem);
void dt_btf_close(struct dt_btf *b);
dt_types *dt_btf_types(const struct dt_btf *b);
/* ---- btf_type.c ---- */
dt_type *dt_btf_lookup(struct dt_btf *b, enum dt_namespace ns, const char *name);
dt_type *dt_btf_symbol(struct dt_btf *b, const char *name);
/* Of a member of a structure, "a" or "a.b"; no types are made for it. */
bool dt_btf_offset(struct dt_btf *b, const char *type, const char *path, uint32_t *offset);
bool dt_btf_size(struct dt_btf *b, const char *type, uint32_t *size);
bool dt_btf_enum_value(struct dt_btf *b, const char *type, const char *name, int64_t *value);
bool dt_btf_enumerator(struct dt_btf *b, const char *name, dt_type **type, int64_t *value);
void dt_btf_complete(dt_type *t);

/* ---- c_layout.c ---- */
uint32_t dt_sou_align(dt_types *ts, dt_type *t); /* of a struct or union that was read, not declared */

/* ---- kernel_types.c ---- */
void dt_kernel_close(dt_types *ts);
dt_type *dt_kernel_lookup(dt_types *ts, const char *module, enum dt_namespace ns, const char *name);
bool dt_kernel_enumerator(dt_types *ts, const char *name, dt_type **type, int64_t *value);
void dt_kernel_forward(dt_type *forward); /* look for the definition once; sets ref */

#endif

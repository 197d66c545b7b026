/*
 * user_store: shared by the files that read user programs' types.
 *
 * A reader (DWARF, CTF) reads one object. It creates nodes of the store with the help of
 * user_node.c; a lazy node refers to its reader (dt_type.user) and to its location (user_ref).
 */
#ifndef DT_TYPE_USER_STORE_H
#define DT_TYPE_USER_STORE_H

#include "type/store.h"
#include "type/user.h"

#define DT_USER_DEPTH 200 /* of derived types: pointers to typedefs of arrays of ... */

/* What a reader knows about a function. */
struct dt_user_function {
	dt_type *ret;
	dt_type **params;   /* arena */
	bool *by_reference; /* arena; C++: which objects are passed by their address; NULL: none */
	uint32_t nparams;
	bool ret_by_reference;
	bool scalars_only;   /* passing of objects is not specified: Rust */
	const char *unusual; /* why its arguments are not where the ABI says; NULL: they are */
};

/* The first member of each reader's own state. */
struct dt_user_reader {
	const struct dt_user_reader_ops *ops;
	struct dt_user_object *object;
};

struct dt_user_reader_ops {
	/* NULL: no such type. A forward declaration does not count. */
	dt_type *(*lookup)(struct dt_user_reader *r, enum dt_namespace ns, const char *name);
	dt_type *(*variable)(struct dt_user_reader *r, const char *name);
	bool (*function)(struct dt_user_reader *r, const char *symbol, uint64_t address,
			 struct dt_user_function *f);
	void (*complete)(struct dt_user_reader *r, dt_type *t); /* members, or enumerators */
	dt_type *(*definition)(struct dt_user_reader *r,
			       dt_type *forward); /* NULL: none in this object */
	/* Names that lookup() finds, for suggestions. *it starts at 0. NULL: no more. */
	const char *(*name)(struct dt_user_reader *r, enum dt_namespace ns, uint32_t *it);
	const char *(*damage)(struct dt_user_reader *r); /* found so far: a sentence, or NULL */
	void (*close)(struct dt_user_reader *r);
};

struct dt_user_object {
	dt_types *ts;
	const char *name; /* of the file, without directories */
	dt_elf *elf;
	struct dt_user_reader *readers[2]; /* used in this order */
	uint32_t nreaders;
	char *problem;	   /* why there is none; heap */
	dt_map *functions; /* answers of dt_user_args */
	int depth;	   /* of structs in structs that are being read */
};

/* ---- user.c ---- */
void dt_user_complete(dt_type *t);
void dt_user_forward(dt_type *forward); /* look for the definition once; sets ref */
void dt_user_close(dt_types *ts);
/* The object of an ELF file, which the store owns from now on. Never NULL; it may have no reader.
 */
struct dt_user_object *dt_user_object(dt_types *ts, dt_elf *e, const char *name);

/* ---- readers: NULL if the file has no such data, or (with *problem, heap) damaged data ---- */
struct dt_user_reader *dt_dwarf_open(struct dt_user_object *o, char **problem);
/* What dwz has moved to a file that several programs share; -1: nothing, or its owner need not be trusted. */
int dt_dwarf_open_alt(const struct dt_user_object *o);
bool dt_dwarf_is_foreign(const struct dt_user_object *o, int fd); /* of a user who need not be trusted */
struct dt_user_reader *dt_ctf_open(struct dt_user_object *o, char **problem);

/* ---- user_node.c ---- */
dt_type *dt_user_pointer(dt_types *ts, dt_type *to);
enum dt_user_encoding {
	DT_USER_SIGNED,
	DT_USER_UNSIGNED,
	DT_USER_CHAR,
	DT_USER_BOOL,
	DT_USER_FLOAT
};
/* An integer or float: the intrinsic one if name and size are those of one. Char is plain char's
 * sign. */
dt_type *dt_user_base(struct dt_user_reader *r, const char *name, uint64_t size,
		      enum dt_user_encoding e);
dt_type *dt_user_typedef(struct dt_user_reader *r, const char *name, dt_type *base);
/* A struct, union or enum whose inside is at ref; the broken type if it cannot be that large. */
dt_type *dt_user_lazy(struct dt_user_reader *r, enum dt_kind kind, const char *name, uint64_t size,
		      const void *ref);
dt_type *dt_user_forward_node(struct dt_user_reader *r, bool is_union, const char *name,
			      const void *ref);
/* Enter members or enumerators, which are copied with their names. Impossible ones become unknown.
 */
void dt_user_set_members(dt_type *sou, const dt_member *v, uint32_t n);
void dt_user_set_enumerators(dt_type *e, const dt_enumerator *v, uint32_t n);

#endif

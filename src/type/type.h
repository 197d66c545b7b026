/*
 * type: one store for every C and D type a program can name.
 *
 * A type is an immutable node; nodes are made by the store and live as long as it does, so a type
 * is passed around as a plain pointer. Derived types (pointer to T, T[n], const T) are interned:
 * the same request gives the same pointer.
 *
 * Kernel types are created from BTF one by one, on demand. A struct from BTF starts with only its
 * name and size; its members are read by dt_type_complete() when they are first needed.
 *
 * Where a name is looked up: the C container (types from -C headers), the D container (types
 * declared in the program), the intrinsic types, the kernel (vmlinux), then kernel modules.
 */
#ifndef DT_TYPE_H
#define DT_TYPE_H

#include "base/base.h"

/* The kinds, with the numbers that DIF type records use (ckind). void is an integer of size 0. */
enum dt_kind {
	DT_K_UNKNOWN,
	DT_K_INTEGER,
	DT_K_FLOAT,
	DT_K_POINTER,
	DT_K_ARRAY,
	DT_K_FUNCTION,
	DT_K_STRUCT,
	DT_K_UNION,
	DT_K_ENUM,
	DT_K_FORWARD,
	DT_K_TYPEDEF,
	DT_K_VOLATILE,
	DT_K_CONST,
	DT_K_RESTRICT,
};
extern const char *const dt_kind_names[14]; /* "unknown", "integer", ... */

/* D's own types: kind DT_K_UNKNOWN and one of these. */
enum dt_special {
	DT_S_NONE,
	DT_S_STRING,   /* string: by reference, strsize bytes */
	DT_S_DYN,      /* <DYN>: a translated object or an untyped argument list */
	DT_S_STACK,    /* stack(), ustack(), jstack() as keys */
	DT_S_SYMADDR,  /* _symaddr: sym(), func(), mod() */
	DT_S_USYMADDR, /* _usymaddr: usym(), ufunc(), umod(), uaddr() */
};

typedef struct dt_type dt_type;
typedef struct dt_types dt_types;
struct dt_btf; /* a loaded BTF image (btf.c) */

typedef struct dt_member {
	const char *name; /* "" for an anonymous struct or union */
	dt_type *type;
	uint64_t bit_offset;
	uint32_t bit_width; /* 0: not a bit-field */
} dt_member;

typedef struct dt_enumerator {
	const char *name;
	int64_t value;
} dt_enumerator;

struct dt_type {
	enum dt_kind kind;
	enum dt_special special;
	const char *name; /* base types, tags and typedefs; NULL: anonymous or derived */
	uint64_t size;	  /* bytes; 0 for void, functions and incomplete types */
	uint32_t align;
	bool is_signed, is_char, is_bool; /* integers */
	bool has_negative;		  /* enums: some enumerator is below 0 */
	bool userland;			  /* pointers: to user memory */
	bool tag_is_union;		  /* DT_K_FORWARD: which tag space it forwards to */
	dt_type *ref;	  /* target, element, aliased or qualified type, return type */
	uint64_t nelems;  /* arrays */
	dt_member *members; /* complete structs and unions, in order */
	uint32_t nmembers;
	const dt_member **by_name; /* large structs: the named ones, sorted; private to the store */
	uint32_t nindexed, nnamed; /* nmembers when that was made; length of by_name */
	dt_enumerator *enumerators;
	uint32_t nenumerators;
	dt_type **params; /* functions */
	uint32_t nparams;
	bool varargs;
	/* where it came from; set by the readers */
	const char *module; /* "vmlinux", a module name, "C", "D", or NULL for intrinsics */
	struct dt_btf *btf;
	uint32_t btf_id;
	struct dt_user_reader *user; /* types of user programs and names for them (user.h), */
	const void *user_ref;	     /* and what their reader knows them by */
	bool lazy; /* members (or enumerators, params) not read yet */
	bool open; /* struct or union whose definition is being read: it hides one of the kernel */
	/* interning caches, private to the store */
	dt_type *to_pointer, *to_user_pointer, *to_const, *to_volatile, *to_restrict;
};

/* ---- the store ---- */
dt_types *dt_types_new(void);
void dt_types_free(dt_types *ts);
dt_arena *dt_types_arena(dt_types *ts);
/* BTF files to use instead of /sys/kernel/btf (tests); NULL path turns kernel types off. */
void dt_types_set_btf_path(dt_types *ts, const char *dir);

/* Intrinsics by role, available without a look-up. */
struct dt_intrinsics {
	dt_type *void_, *char_, *int_, *uint, *long_, *ulong, *llong, *ullong, *string, *dyn,
	    *stack, *symaddr, *usymaddr, *void_ptr, *char_ptr, *func_ptr, *int64, *uint64,
	    *uint32, *uint16, *uint8, *size, *ssize, *uintptr, *ptrdiff, *pid, *id;
};
const struct dt_intrinsics *dt_intrinsics(const dt_types *ts);
/* string is strsize bytes; the session sets the size before compiling. */
void dt_types_set_strsize(dt_types *ts, uint64_t strsize);

/* ---- making types ---- */
dt_type *dt_type_pointer(dt_types *ts, dt_type *to);
dt_type *dt_type_userland(dt_types *ts, dt_type *pointer); /* the same pointer, to user memory */
dt_type *dt_type_array(dt_types *ts, dt_type *elem, uint64_t nelems);
dt_type *dt_type_qualify(dt_types *ts, dt_type *t, enum dt_kind qualifier);
dt_type *dt_type_function(dt_types *ts, dt_type *ret, dt_type **params, uint32_t n, bool varargs);
/* Named types go into a container, "C" or "D". A NULL name makes an anonymous type. */
dt_type *dt_type_typedef(dt_types *ts, const char *container, const char *name, dt_type *base);
/* An incomplete struct/union (kind DT_K_STRUCT/UNION, size 0, members NULL); completed in place: */
dt_type *dt_type_sou(dt_types *ts, const char *container, enum dt_kind kind, const char *tag);
/* Members are laid out by C's rules in the order added. width 0: no bit-field.
 * name NULL or "": anonymous struct/union, or an unnamed bit-field. */
void dt_type_add_member(dt_types *ts, dt_type *sou, const char *name, dt_type *t, uint32_t width);
void dt_type_finish_sou(dt_types *ts, dt_type *sou);
dt_type *dt_type_enum(dt_types *ts, const char *container, const char *tag);
void dt_type_add_enumerator(dt_types *ts, dt_type *e, const char *name, int64_t value);

/* ---- looking up ---- */
enum dt_namespace { DT_NS_ORDINARY, DT_NS_STRUCT, DT_NS_UNION, DT_NS_ENUM };
/* module NULL: the search order above. "C", "D", "vmlinux" ("kernel" and "genunix" mean vmlinux),
 * a kernel module, or an object of a process (user.h). NULL when there is none. */
dt_type *dt_type_lookup(dt_types *ts, const char *module, enum dt_namespace ns, const char *name);
/* The same in "C", "D" and among the intrinsic types: not in the kernel. */
dt_type *dt_type_lookup_local(dt_types *ts, enum dt_namespace ns, const char *name);
/* While a library is compiled for a program, the program's headers (container "C") are not
 * searched: their structs may have the kernel's names. Returns the previous setting. */
bool dt_types_hide_headers(dt_types *ts, bool hide);
/* An enumerator of any enum in the C or D containers; of the kernel only if `kernel`. */
bool dt_enumerator_lookup(dt_types *ts, const char *name, bool kernel, dt_type **type, int64_t *value);
/* Kernel objects described by BTF: the type of a function or (per-CPU) variable; NULL if unknown. */
dt_type *dt_type_of_symbol(dt_types *ts, const char *module, const char *symbol);
/* The kernel's number for a function in its type information, as BPF programs name it; 0: it has none. */
uint32_t dt_type_function_id(dt_types *ts, const char *module, const char *name);
/* The types of container "C" or "D" as C declarations (dump.c). */
void dt_types_dump(dt_types *ts, const char *container, dt_buf *out);
/* Kernel tracepoints, as BTF describes them, in a fixed order; *it starts at 0. *name is valid
 * until the store is freed. False at the end. dt_tracepoint_type: that of one, NULL if unknown. The
 * type is a function whose first parameter is not an argument of the tracepoint. */
bool dt_tracepoint_next(dt_types *ts, uint32_t *it, const char **name);
dt_type *dt_tracepoint_type(dt_types *ts, const char *name);
/* Cheap once dt_tracepoint_next() has been called. */
bool dt_tracepoint_exists(dt_types *ts, const char *name);
/* The id of a structure or function in the kernel's BTF, if types of it were asked for; 0: not known. */
uint32_t dt_kernel_id(dt_types *ts, const char *name, bool function);
/* The offset of a member of one of the kernel's structures, "member" or "member.member", also through members without a
 * name. Cheaper than asking for the type, which reads all its members. False: there is none. */
bool dt_kernel_offset(dt_types *ts, const char *type, const char *path, uint32_t *offset);
/* As cheap: the size of a structure, and an enumerator of an enum. */
bool dt_kernel_size(dt_types *ts, const char *type, uint32_t *size);
bool dt_kernel_enum_value(dt_types *ts, const char *type, const char *name, int64_t *value);
/* Why kernel types are not available ("no /sys/kernel/btf/vmlinux"), or NULL if they are. */
const char *dt_types_kernel_problem(dt_types *ts);

/* ---- queries ---- */
dt_type *dt_type_resolve(const dt_type *t);  /* strip typedefs and qualifiers; keeps `userland` of pointers */
void dt_type_complete(dt_types *ts, dt_type *t); /* read members, enumerators, params now */
bool dt_type_is_void(const dt_type *t);
bool dt_type_is_integer(const dt_type *t); /* integer or enum, not void */
bool dt_type_is_float(const dt_type *t);
bool dt_type_is_pointer(const dt_type *t); /* pointer, not array */
bool dt_type_is_array(const dt_type *t);
bool dt_type_is_function(const dt_type *t);
bool dt_type_is_sou(const dt_type *t); /* struct or union */
bool dt_type_is_string(const dt_type *t);	   /* D's string */
bool dt_type_is_dyn(const dt_type *t);
bool dt_type_is_char_array_or_ptr(const dt_type *t); /* char* or char[], signed or not */
bool dt_type_is_string_compat(const dt_type *t);	   /* string, char*, char[] */
bool dt_type_is_scalar(const dt_type *t); /* integer, enum, float or pointer */
bool dt_type_is_byref(const dt_type *t);  /* string, array, struct, union, long double: handled by address */
bool dt_type_is_complete(dt_types *ts, dt_type *t); /* size known: not void, function or forward */
bool dt_type_is_signed(const dt_type *t);
uint64_t dt_va_list_size(void); /* of C's va_list on this CPU */
uint64_t dt_type_size(dt_types *ts, dt_type *t);
uint32_t dt_type_align(dt_types *ts, dt_type *t);
/* C compatibility after stripping names and qualifiers; void * is compatible with every pointer. */
bool dt_type_equal(dt_types *ts, dt_type *a, dt_type *b);
bool dt_type_compatible(dt_types *ts, dt_type *a, dt_type *b);
dt_type *dt_type_promote(dt_types *ts, dt_type *t);	       /* C integer promotion */
dt_type *dt_type_usual(dt_types *ts, dt_type *a, dt_type *b);  /* usual arithmetic conversions */
/* A number for where the parts of a struct, union, array or enum are and what they are called: two machines whose types have
 * the same show the same bytes in the same way. What pointers lead to is no part of it. 0: it has no parts. */
uint64_t dt_type_layout(dt_type *t);
/* A member by name, also inside anonymous members; *bit_offset is from the start of t. */
const dt_member *dt_type_member(dt_types *ts, dt_type *t, const char *name, uint64_t *bit_offset);
/* C spelling of t: "struct task_struct *", "int [4]", "uint64_t". With a name: "char buf[16]". */
void dt_type_print(dt_types *ts, const dt_type *t, const char *name, dt_buf *out);
const char *dt_type_name(dt_types *ts, const dt_type *t); /* the same, in the store's arena */

#endif

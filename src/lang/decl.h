/*
 * decl: shared by the files that read declarations (decl*.c), the lexer and the parser.
 *
 * A C declaration has two halves. The specifiers ("static const unsigned int") give a storage
 * class and a base type. Each declarator ("*x[3]") gives a name and a list of derivations, from
 * the name outwards; applied to the base type from last to first they make the declared type:
 * int (*f)(char) is f: POINTER, FUNCTION of int.
 */
#ifndef DT_DECL_H
#define DT_DECL_H

#include "lang/compiler.h"

enum dt_decl_place { DECL_EXTERNAL, DECL_MEMBER, DECL_PARAM, DECL_TYPE_NAME };

typedef struct dt_specs {
	int class_; /* 0, T_TYPEDEF, T_EXTERN, T_STATIC, T_AUTO, T_REGISTER, T_SELF, T_THIS */
	bool is_inline;
	bool userland;	/* pointers made by the declarators point to user memory */
	bool in_process; /* a type of a user program: the same, without the keyword */
	bool names_tag; /* a struct, union or enum: may stand without a declarator */
	bool has_body;	/* and it is defined here */
	dt_type *type;
	dt_pos pos;
} dt_specs;

typedef struct dt_derive {
	enum { DERIVE_POINTER, DERIVE_ARRAY, DERIVE_FUNCTION, DERIVE_KEYS } kind;
	bool is_const, is_volatile, is_restrict, userland; /* pointers */
	bool no_size;					   /* arrays: [] */
	bool varargs;					   /* functions */
	uint64_t nelems;
	dt_param *params; /* functions, and keys of associative arrays and inlines */
	uint32_t nparams;
	dt_pos pos;
} dt_derive;

typedef struct dt_declarator {
	const char *name; /* NULL: abstract */
	dt_pos pos;
	DT_VEC(dt_derive) derive;
} dt_declarator;

/* ---- decl.c ---- */
bool dt_gives_way(dt_compiler *cc, const char *name);
void dt_expect_end_of_names(dt_compiler *cc); /* ";", or fails; D_DECL_IDENT for a type */

/* ---- decl_spec.c ---- */
bool dt_is_type_keyword(int token); /* may begin a type name */
/* The type called `name`, or NULL. Asks libraries and the kernel only if `kernel` or if there is a module. */
dt_type *dt_named_type(dt_compiler *cc, const char *module, const char *name, bool kernel);
/* A type that module (not NULL) must have. Fails with D_DECL_IDENT, and for processes with the
 * reason. */
dt_type *dt_type_in_module(dt_compiler *cc, dt_pos pos, const char *module, enum dt_namespace ns,
			   const char *name);
void dt_parse_specs(dt_compiler *cc, enum dt_decl_place place, dt_specs *out);

/* ---- decl_tag.c ---- */
dt_type *dt_parse_sou(dt_compiler *cc, bool *has_body);  /* at struct or union */
dt_type *dt_parse_enum(dt_compiler *cc, bool *has_body); /* at enum */
const char *dt_decl_container(const dt_compiler *cc); /* "C" in included headers, else "D" */

/* ---- declarator.c ---- */
bool dt_is_d_keyword(int token); /* reserved in D but not in C: can be a tag */
enum dt_name_rule { NAME_REQUIRED, NAME_OPTIONAL, NAME_NONE };
void dt_parse_declarator(dt_compiler *cc, enum dt_decl_place place, enum dt_name_rule rule,
			 dt_declarator *out);
/* The specifiers' type with derivations `from`.. applied. */
dt_type *dt_declared_type(dt_compiler *cc, const dt_specs *s, const dt_declarator *d,
			  uint32_t from);
/* Fails with D_DECL_VOIDOBJ, D_DECL_DYNOBJ, D_DECL_INCOMPLETE when t cannot be an object's. */
void dt_check_object_type(dt_compiler *cc, dt_pos pos, const char *name, dt_type *t);
/* ---- function.c ---- */
/* inline type name(parameters) { body }, at '{'; ends at '}'. */
void dt_parse_function(dt_compiler *cc, const dt_declarator *d, dt_type *type);

/* ---- declarator.c ---- */
/* A list of parameters up to `close`, which becomes the current token. */
enum dt_param_rules { PARAM_VARARGS = 1, PARAM_VOID = 2 };
void dt_parse_params(dt_compiler *cc, int close, unsigned rules, dt_derive *out);

#endif

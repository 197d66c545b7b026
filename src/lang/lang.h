/*
 * lang: the D compiler. This header describes all its data.
 *
 *   lex*.c     text -> tokens (two modes: between clauses, and inside expressions)
 *   macro.c    $1, $$1, $target ...
 *   pragma.c   control lines: # 1 "file", #pragma D ..., #error
 *   parse*.c   tokens -> syntax tree; one function per grammar rule
 *   decl*.c    C declarations -> types and declared variables; translators; providers
 *   blocks.c   if, loops and switch -> blocks of actions
 *   sugar.c    the same for other DTraces: if/else -> several clauses
 *   ident.c    identifiers: scopes, built-ins, aggregations
 *   check*.c   names and types; expands inlines, translators and args[]; folds constants
 *   format_check.c  the arguments of printf formats (parsed by dif/format.c)
 *   gen*.c     checked expression -> DIF (asm.c assembles)
 *   action*.c  statements -> actions with their DIFOs, one table row per action
 *   compile.c  dt_compile(): drives all of the above
 *   function.c, procedure.c  inlines with a body of statements
 *   library.c  asks for the library that defines an unknown name
 *   module.c   modules: import, and the names that belong to one
 *   exports.c  what a library or module defines, before it is compiled
 *
 * All data of a compiler lives in one arena. An error unwinds by longjmp to dt_compile()
 * (dt_fail() does not return), so no function here returns an error code.
 */
#ifndef DT_LANG_H
#define DT_LANG_H

#include <setjmp.h>

#include "base/base.h"
#include "base/options.h"
#include "dif/dif.h"
#include "dif/format.h"
#include "type/type.h"

typedef struct dt_compiler dt_compiler;
typedef struct dt_node dt_node;
typedef struct dt_ident dt_ident;

/* ---- errors ---- */
/* Report and unwind. The message is a sentence without final stop. */
_Noreturn void dt_fail(dt_compiler *cc, dt_pos pos, enum dt_tag tag, const char *fmt, ...)
    DT_PRINTF(4, 5);
/* The same for an error from elsewhere: with its own tag, or with this one if it has none. */
_Noreturn void dt_fail_error(dt_compiler *cc, dt_pos pos, const dt_error *e, enum dt_tag tag);

/* ---- tokens ---- */
enum dt_tok {
	T_EOF = 0,
	/* single-character tokens are their character: '(' ')' '{' '}' '[' ']' ',' ';' '.' '=' '+' '-'
	 * '*' '/' '%' '&' '|' '^' '~' '!' '<' '>' '?' ':' */
	T_INT = 256, T_STRING, T_IDENT, T_TNAME /* identifier that names a type */,
	T_AGG,	 /* @name; text without the @ ("_" for a bare @) */
	T_PSPEC, /* a probe description, in outer mode */
	T_PRED_OPEN, T_PRED_CLOSE, /* the slashes around a predicate */
	T_ARROW, T_INC, T_DEC, T_SHL, T_SHR, T_LE, T_GE, T_EQ, T_NE, T_ANDAND, T_XORXOR, T_OROR,
	T_ADD_EQ, T_SUB_EQ, T_MUL_EQ, T_DIV_EQ, T_MOD_EQ, T_AND_EQ, T_XOR_EQ, T_OR_EQ, T_SHL_EQ,
	T_SHR_EQ, T_ELLIPSIS, T_OTHERWISE /* ?? */,
	/* keywords */
	T_KW_FIRST,
	T_AUTO = T_KW_FIRST, T_BREAK, T_CASE, T_CHAR, T_CONST, T_CONTINUE, T_COUNTER, T_DEFAULT, T_DO,
	T_DOUBLE, T_ELSE, T_ENUM, T_EXTERN, T_FLOAT, T_FOR, T_GOTO, T_IF, T_IMPORT, T_INLINE, T_KW_INT,
	T_LONG, T_OFFSETOF, T_PROBE, T_PROVIDER, T_REGISTER, T_RESTRICT, T_RETURN, T_SELF, T_SHORT,
	T_SIGNED, T_SIZEOF, T_STATIC, T_KW_STRING, T_STRINGOF, T_STRUCT, T_SWITCH, T_THIS,
	T_TRANSLATOR, T_TYPEDEF, T_UNION, T_UNSIGNED, T_USERLAND, T_VOID, T_VOLATILE, T_WHILE, T_XLATE,
	T_KW_LAST = T_XLATE,
};

/* ---- syntax tree ---- */
enum dt_nkind {
	/* expressions as parsed */
	N_INT,	  /* ival; type set by the lexer's rules for constants */
	N_STRING, /* str, len */
	N_IDENT,  /* name [scope: 0 global, T_SELF, T_THIS]; keys: subscripts of an associative
		     array or parameterised inline, as `args` */
	N_SYM,	  /* external symbol: module (NULL: any) ` name */
	N_CALL,	  /* name(args) */
	N_AGG,	  /* @name[args]; args NULL and !has_keys: no brackets */
	N_OP1,	  /* op, l. op: '+' '-' '~' '!' '*' '&' T_INC T_DEC (prefix), T_POSTINC, T_POSTDEC,
		     T_SIZEOF, T_STRINGOF, '(' (cast: type in ctype) */
	N_OP2,	  /* op, l, r: arithmetic, comparison, logic, assignment, ',' ;
		     '.' and T_ARROW: l and name;  '[': l and the index r (arrays and pointers);
		     T_OTHERWISE: l ?? r */
	N_OP3,	  /* c ? l : r */
	N_TYPE,	  /* ctype: operand of sizeof */
	N_OFFSETOF, /* ctype, name (member path "a.b" allowed) */
	N_XLATE,  /* xlate < ctype > (l) */
	/* statements */
	N_EXPR_STMT, /* l */
	N_IF,	     /* c; body list `l`; else list `r` (may be NULL) */
	N_RETURN,    /* l; in functions */
	N_LOOP,	     /* op: T_WHILE, T_DO, T_FOR; condition c (NULL: none); body list `l`; for: init `args`, step `r`,
			each N_EXPR_STMT or NULL */
	N_SWITCH,    /* c; list `l` of statements and N_CASE */
	N_CASE,	     /* c: a constant; NULL: default */
	N_JUMP,	     /* op: T_BREAK, T_CONTINUE */
	N_BODY,	     /* l: statements of a function, which N_RETURN leaves */
	N_INVOKE,    /* ival: call of the N_INVOKED of this number */
	N_INVOKED,   /* l: statements of a function; at the end of a clause */
	/* external declarations */
	N_CLAUSE,   /* args: list of N_PDESC; c: predicate or NULL; l: statements; NF_HAS_BODY */
	N_PDESC,    /* desc */
	/* made by the checker */
	N_VAR,	  /* resolved variable: ident; args: its keys (or the index of args/regs/uregs) */
	N_FUNC,	  /* resolved call: ident; args */
};
#define T_POSTINC (T_KW_LAST + 1)
#define T_POSTDEC (T_KW_LAST + 2)
#define T_ALIGNOF (T_KW_LAST + 3) /* in C headers; folded by the parser */
#define T_MODULE  (T_KW_LAST + 4) /* "module name version;" at the top of a file */

enum dt_nflags {
	NF_LVAL = 1,	  /* has an address or is a variable */
	NF_WRITABLE = 2,  /* may be assigned */
	NF_REF = 4,	  /* value is an address of the object (string, array, struct) */
	NF_USER = 8,	  /* the object lies in user memory: load with uld* */
	NF_BITFIELD = 16, /* bit_offset and bit_width below hold */
	NF_CHECKED = 32,
	NF_HAS_KEYS = 64, /* N_IDENT, N_AGG: brackets were written */
	NF_HAS_BODY = 128,
	NF_CONST_STR = 256,
	NF_SHARED = 2048, /* cast: the value of a function that is compiled once, not at each call */
	NF_RETURNED = 1024, /* cast: the value of a function, converted as by assignment */
	NF_IMPLIED_USER = 512, /* cast: points to user memory only because the type is a user program's */
};

/* A program has many of these, so its fields are small. */
struct dt_node {
	enum dt_nkind kind;
	int16_t op;
	int16_t scope;	/* 0, T_SELF, T_THIS */
	uint16_t flags; /* NF_* */
	dt_attr attr;	/* stability, set by the checker */
	uint8_t bit_offset, bit_width, bit_unit; /* bit-fields: see `offset` */
	uint32_t len;	    /* N_STRING */
	uint32_t written;   /* bytes of source text */
	const char *from;   /* that text; NULL: made by the compiler */
	dt_pos pos;
	const dt_node *use; /* copied from an inline or a translator: the expression that uses it */
	dt_node *next;	    /* in argument, statement and description lists */
	dt_type *type;	    /* set by the checker for every expression */
	dt_node *c, *l, *r, *args;
	const char *name, *module;
	dt_type *ctype;
	dt_ident *ident;
	union {
		uint64_t ival;	    /* N_INT; N_CASE: its constant */
		const char *str;    /* N_STRING; N_CASE: its constant */
		const dt_probedesc *desc; /* N_PDESC */
		/* Member access ('.', T_ARROW), set by the checker: its offset from the start of the struct. Bit-field: a
		 * storage unit of bit_unit bytes is loaded at byte `offset`, then shifted and masked by bit_offset (from
		 * that unit's low bit) and bit_width. */
		uint64_t offset;
	};
};

/* ---- identifiers ---- */
enum dt_idkind {
	ID_SCALAR,    /* variable (built-in or user) */
	ID_ARRAY,     /* associative array, or args/regs/uregs */
	ID_AGG,	      /* aggregation: agg */
	ID_SUBR,      /* subroutine: id is its number */
	ID_ACTION,    /* action: act */
	ID_AGGFUNC,   /* count, sum ...: id is the action kind */
	ID_INLINE,    /* inl */
	ID_FUNC,      /* an inline with a body: inl */
	ID_SYM,	      /* declared with extern: a kernel symbol with a given type */
	ID_ENUM,      /* never stored: enumerators are folded to N_INT */
};

enum dt_idflags {
	IDF_BUILTIN = 1, /* not assignable */
	IDF_READ = 2, IDF_WRITE = 4, /* used this way by the DIFO being generated */
	IDF_TYPED = 8,		     /* type and keys are fixed */
	IDF_SPILL = 16,		     /* hidden: made by the generator */
	IDF_ATTR = 32,		     /* attr was set by a pragma */
	IDF_WIDENS = 64,	     /* not declared: takes the widest integer type that is assigned to it */
	IDF_WIDENED = 128,	     /* and has done so */
	IDF_PROGRAM = 256,	     /* a program's own: modules do not see it */
};

typedef struct dt_param {
	const char *name; /* NULL: unnamed */
	dt_type *type;
} dt_param;

struct dt_inline {
	dt_param *params; /* n of them; used as N_IDENT by name inside expr */
	uint32_t nparams;
	dt_node *expr; /* unchecked; copied at each use */
	/* functions: */
	uint32_t nnames;   /* of params: parameters, then local variables */
	uint64_t assigned; /* which of them the body assigns to */
	bool assigns;	   /* it assigns to anything */
	bool returns;	   /* void, or with loops: from inside of one */
	bool loops;	   /* it has a value and a loop or switch: `expr` are statements */
	uint32_t result;   /* then: the variable with the value */
	uint32_t order;	   /* void, or with loops: of its definition, from 1 */
	uint32_t nodes;	   /* then: how large it is */
	bool apart;	   /* then: it can be at the end of the clause: invoke.c */
	uint64_t constants; /* then: parameters that may have to be constants */
	uint32_t uses;	   /* then: how often clauses have called it so far */
	struct {
		uint32_t times, generation; /* how often those of the text with this number will: foresee.c */
	} expected;
	struct dt_body *bodies; /* then: its code as clauses have it: gen_function.c */
	struct dt_ready *ready; /* then: the same where that is known without compiling it: blocks.c */
	bool shared;	   /* so large that it is compiled once: gen_function.c ... */
	struct {
		uint32_t clause, depth;
		dt_node *value;
	} known; /* ... and its value in this clause, with variables for a call at this depth */
};

struct dt_ident {
	const char *name;
	enum dt_idkind kind;
	int scope; /* DT_SCOPE_* for variables */
	uint32_t flags;
	uint32_t id; /* DIF variable id, subroutine number, action kind */
	dt_type *type; /* NULL until first use fixes it */
	dt_type **keys; /* ID_ARRAY and ID_AGG: key types */
	uint32_t nkeys;
	bool keys_known, keys_declared;
	dt_attr attr;
	uint64_t version;
	const char *proto; /* subroutines: from the table */
	struct dt_inline *inl;
	dt_agg *agg;
	const struct dt_action_desc *act;
	dt_pos pos;
	const char *shown;   /* what its value is called in the output; NULL: its name */
	uint32_t generation; /* which compile made it; undone if that compile fails */
};

/* ---- translators ---- */
typedef struct dt_xmember {
	const char *name;
	dt_node *expr; /* unchecked; copied at each use with the formal bound */
	dt_pos pos;
	struct dt_xmember *next;
} dt_xmember;

typedef struct dt_xlator {
	dt_type *out; /* struct or union */
	dt_type *in;
	const char *param;
	dt_xmember *members;
	dt_attr attr;
	uint64_t version;
	dt_pos pos;
	bool busy;
	uint32_t generation; /* which compile made it */
	struct dt_xlator *next; /* to an output of the same name */
} dt_xlator;

/* ---- what the compiler asks about probes (answered by src/probe) ---- */
typedef struct dt_probe_arg {
	dt_type *native, *xlated; /* equal, or xlated NULL, when there is no translation */
	int mapping;		  /* native argument it is made from */
	const char *unknown;	  /* native is NULL, or there is no translator: the type's name */
} dt_probe_arg;

struct dt_probe_args { /* what args[] means for a description */
	uint32_t nprobes; /* how many probes matched (0 with -Z) */
	bool typed;	  /* false: the probe has no typed arguments */
	bool differ;	  /* matched probes disagree */
	uint32_t nargs;
	dt_probe_arg *args;
	dt_attr desc_attr, args_attr;
};
struct dt_probe_source {
	void *arg;
	/* Fill *out (arena memory of the compiler). 0, or -1 with *err set (bad description, or a
	 * provider that explains why it has no such probe). No match is not an error here. */
	int (*describe)(void *arg, dt_compiler *cc, const dt_probedesc *d, bool want_args,
			struct dt_probe_args *out, dt_error *err);
	/* Address of a kernel symbol; 0 or -1. For N_SYM. */
	int (*symbol)(void *arg, const char *module, const char *name, uint64_t *address);
};

/* ---- the compiler ---- */
struct dt_macros { /* $target and friends, $0.. */
	int argc;
	char **argv; /* argv[0] is the script's name */
	bool *used;
	long target;
};

struct dt_source {
	const char *text;
	size_t len;
	const char *name;     /* script path; NULL: command line */
	enum { DT_SPEC_NAME, DT_SPEC_FUNC, DT_SPEC_MOD, DT_SPEC_PROV } spec; /* what the last field is */
	bool is_cmdline;      /* -n and friends: bare descriptions allowed, probe reading preferred */
	bool is_library;      /* clauses not allowed; unmet depends_on skips silently */
	bool is_ours;	      /* a library that the tests have checked: of its inlines and translators only what a program uses
				 is checked, which is most of the time that a short program takes */
	const char *module;   /* a library that is the module of this name; NULL: it is none */
};

dt_compiler *dt_compiler_new(dt_types *ts, dt_options *opts, struct dt_macros *macros,
			     const struct dt_probe_source *probes);
void dt_compiler_free(dt_compiler *cc);
/* NULL and *err on failure. The program lives as long as the compiler. A library may be compiled
 * while a program is: see struct dt_library_source. */
dt_program *dt_compile(dt_compiler *cc, const struct dt_source *src, dt_error *err);
/* A library whose depends_on is unmet: dt_compile returns NULL with err->code == EDT_LIBSKIP. */
#define EDT_LIBSKIP 1999
/* "struct foo *" -> type, as a cast would read it. NULL and *err. */
dt_type *dt_compile_type(dt_compiler *cc, const char *text, dt_error *err);
/* One expression, as in a clause on an event whose args[] are `args`: computed before the clauses
 * of a probe run (probe/attach.h). Its value is a number or an address. Not while a program is
 * being compiled. */
dt_difo *dt_compile_expr(dt_compiler *cc, const char *text, struct dt_probe_args *args, dt_error *err);
uint32_t dt_compiler_max_var(dt_compiler *cc, int scope); /* highest user id; 0 if none */
dt_types *dt_compiler_types(dt_compiler *cc);
dt_arena *dt_compiler_arena(dt_compiler *cc);
/* What a library defines, and the libraries that it depends on; keys of the maps. */
struct dt_exports {
	dt_map *names, *depends;
};
void dt_exports_read(dt_compiler *cc, const char *text, size_t len, struct dt_exports *out);
void dt_exports_free(struct dt_exports *e);

/* ---- what the compiler asks about libraries (answered by src/session) ---- */
struct dt_library_source {
	void *arg;
	/* The program uses an unknown name: compile, by dt_compile(), the libraries that define it.
	 * 1: found, 0: none defines it, -1: *err. */
	int (*define)(void *arg, const char *name, dt_error *err);
	/* #pragma D depends_on library. 1: it is compiled, 0: it is not available, -1: *err. */
	int (*require)(void *arg, const char *library, dt_error *err);
	/* import: compile, by dt_compile(), the module of this name. 0, or -1: *err. */
	int (*import)(void *arg, const char *module, dt_error *err);
	/* Names defined by libraries that are not compiled yet, to suggest for a misspelt one: as
	 * many as fit in out[max]; returns how many (with max 0: the total). */
	uint32_t (*names)(void *arg, const char **out, uint32_t max);
};
void dt_compiler_set_libraries(dt_compiler *cc, const struct dt_library_source *libs);
/* From now on, clauses run only for processes in the cgroup `id`, `level` levels below the root; not those of BEGIN, END,
 * ERROR and tick probes, which belong to no process. */
void dt_compiler_set_cgroup(dt_compiler *cc, uint64_t id, uint32_t level);
/* With option machines: which clauses are for this machine. It must live as long as the compiler. An agent compiles only
 * its own; the front compiles all, and marks those that run elsewhere. NULL: there is one machine. */
struct dt_here {
	bool is_agent;
	bool is_relay; /* and for other machines: it compiles their clauses as well */
	const char *name, *os; /* "host" at the front; "Linux-6.12.115" */
};
void dt_compiler_set_here(dt_compiler *cc, const struct dt_here *here);
/* What is kept at the front, for all machines (split.c): "x", "self->y", "speculation()". An agent is told. */
void dt_compiler_keep(dt_compiler *cc, const char *name);
bool dt_compiler_kept(dt_compiler *cc, uint32_t *it, const char **name); /* one after the other, from *it = 0 */
/* Clauses as D text: as parsed (-x tree=1), and as they are compiled (-d): with option control=clauses after if/else desugaring. NULL: not wanted. */
void dt_compiler_set_dump(dt_compiler *cc, dt_buf *parsed, dt_buf *desugared);

#endif

/*
 * dif: the D Intermediate Format, and the program that clauses become.
 *
 * Everything here is data shared by the compiler (which makes it), the printer, the verifier, DOF,
 * the engines (which run it) and the consumer (which prints what it recorded). The numbers are
 * DTrace's; files and scripts rely on them, so never change one.
 */
#ifndef DT_DIF_H
#define DT_DIF_H

#include "base/base.h"
#include "base/options.h"
#include "dif/actions.h"
#include "type/type.h"

/* ---- instructions ---- */
typedef uint32_t dt_instr;

enum dt_op {
#define DT_OPCODE(num, name, text, format) DT_OP_##name = num,
#include "dif/opcodes.def"
#undef DT_OPCODE
	DT_OP_MAX = 80, /* highest valid opcode */
};

/* Operand shapes: what the printer writes and the verifier checks. */
enum dt_op_format {
	DT_F_RRR,    /* %r1, %r2, %rd */
	DT_F_RR,     /* %r1, %rd (not, mov, allocs) */
	DT_F_CMP,    /* %r1, %r2 */
	DT_F_TST,    /* %r1 */
	DT_F_BRANCH, /* label */
	DT_F_LOAD,   /* [%r1], %rd */
	DT_F_STORE,  /* %r1, [%rd] */
	DT_F_RET,    /* %rd */
	DT_F_NONE,   /* nop popts flushts */
	DT_F_SETX, DT_F_SETS,
	DT_F_LDV,    /* ldgs ldts ldls ldgaa ldtaa: DT_VAR(n), %rd */
	DT_F_STV,    /* stgs stts stls stgaa sttaa: %rs, DT_VAR(n) */
	DT_F_LDA,    /* ldga ldta: DT_VAR(n), %r2, %rd */
	DT_F_STA,    /* stga */
	DT_F_CALL, DT_F_PUSHTV, DT_F_PUSHTR, DT_F_XL,
};
struct dt_op_desc {
	const char *name; /* NULL: no such opcode */
	enum dt_op_format format;
};
extern const struct dt_op_desc dt_op_table[256];
bool dt_op_can_fault(enum dt_op op);

/* fields */
#define DT_I_OP(i)	((i) >> 24)
#define DT_I_R1(i)	((i) >> 16 & 0xff)
#define DT_I_R2(i)	((i) >> 8 & 0xff)
#define DT_I_RD(i)	((i) & 0xff)
#define DT_I_LABEL(i)	((i) & 0xffffff)
#define DT_I_INDEX(i)	((i) >> 8 & 0xffff) /* setx, sets, variables, call, xlate */
#define DT_I_TYPE(i)	((i) >> 16 & 0xff)  /* pushtv, pushtr */
#define DT_I_FMT(op, r1, r2, d)                                                                    \
	((dt_instr)((uint32_t)(op) << 24 | (uint32_t)(r1) << 16 | (uint32_t)(r2) << 8 | (uint32_t)(d)))
#define DT_I_BR(op, label)   ((dt_instr)((uint32_t)(op) << 24 | (uint32_t)(label)))
#define DT_I_IDX(op, idx, d) ((dt_instr)((uint32_t)(op) << 24 | (uint32_t)(idx) << 8 | (uint32_t)(d)))

#define DT_DIF_VERSION	2
#define DT_DIF_NREGS	8
#define DT_DIF_NTREGS	8
#define DT_VAR_ARRAY_MAX 0xff
#define DT_VAR_SCALAR_MIN 0x100
#define DT_VAR_USER_MIN 0x500
#define DT_VAR_MAX	0xffff
#define DT_DIFO_MAXSIZE (256 * 1024)
#define DT_CALL_FUNCTION 0x8000
#define DT_FUNCTIONS_MAX 0x1000 /* of a DIFO */
#define DT_STATIC_VAR_MAX (64 * 1024) /* a string of the largest strsize */

enum { DT_SCOPE_GLOBAL, DT_SCOPE_THREAD, DT_SCOPE_LOCAL };
enum { DT_VAR_ARRAY, DT_VAR_SCALAR };
enum { DT_VARF_READ = 1, DT_VARF_WRITE = 2 };
enum { DT_TYPE_CTF, DT_TYPE_STRING };	 /* dt_diftype.kind; also the tuple push types */
enum { DT_TF_BYREF = 1, DT_TF_BYUREF = 2 }; /* dt_diftype.flags */

typedef struct dt_diftype {
	uint8_t kind;  /* DT_TYPE_* */
	uint8_t ckind; /* enum dt_kind */
	uint8_t flags; /* DT_TF_* */
	uint8_t pad;
	uint32_t size;
} dt_diftype;

typedef struct dt_difvar {
	uint32_t name; /* offset in strtab */
	uint32_t id;
	uint8_t kind, scope;
	uint16_t flags;
	dt_diftype type;
} dt_difvar;

/* A relocation: an external symbol whose address goes into an integer-table slot. */
typedef struct dt_reloc {
	uint32_t name; /* offset in strtab: "module`symbol" */
	uint32_t index; /* integer table index */
	uint64_t data;	/* addend */
	bool user;
} dt_reloc;

/* The source of an instruction that can fault. */
typedef struct dt_place {
	dt_pos pos;	  /* file NULL: the command line; line 0: its only line */
	const char *text; /* as written: len bytes */
	uint32_t len;
	uint32_t at; /* the instruction; DT_PLACE_WHOLE: the expression as a whole */
} dt_place;
#define DT_PLACE_WHOLE UINT32_MAX

typedef struct dt_difo {
	dt_instr *text;
	uint32_t len;
	uint64_t *inttab;
	uint32_t intlen;
	char *strtab; /* begins and ends with NUL */
	uint32_t strlen;
	dt_difvar *vars;
	uint32_t nvars;
	dt_reloc *relocs;
	uint32_t nrelocs;
	struct dt_difo **functions; /* that it calls: number n is subroutine DT_CALL_FUNCTION + n; they call none */
	uint32_t nfunctions;
	dt_diftype rtype;
	/* not part of DIF proper */
	bool destructive; /* set by the verifier: copyout, copyoutstr, stga */
	dt_type *type;	  /* source type of the value; NULL when read from DOF */
	const char *name; /* of the variable or member that it is; NULL: neither, or read from DOF */
	const dt_place *places; /* in order of `at`; none when read from DOF */
	uint32_t nplaces;
	uint32_t bound;	  /* strings: longest possible value incl. NUL (<= rtype.size); 0 = rtype.size */
} dt_difo;

/* ---- built-in variables and subroutines: builtins.def ---- */
enum dt_builtin_var {
#define DT_BUILTIN_VAR(sym, num, name, type, ver, name_stab, data_stab, cls, engine, help) DT_VAR_##sym = num,
#include "dif/builtins.def"
#undef DT_BUILTIN_VAR
};
enum dt_subr {
#define DT_SUBR(sym, num, proto, ver, cls, help) DT_SUBR_##sym = num,
#include "dif/builtins.def"
#undef DT_SUBR
	DT_SUBR_MAX_, /* one above the highest */
	DT_SUBR_SOFT = DT_SUBR_STRCASECMP, /* from here on, names of scripts come first: builtins.def */
};
struct dt_builtin_var_desc {
	const char *name, *type; /* type as D text; "@dyn" for args[] */
	uint32_t id;
	uint64_t version;
	dt_attr attr;
	bool needs_kernel; /* the interpreter would return 0 */
	const char *help;
};
struct dt_subr_desc {
	const char *name;  /* NULL: no such number */
	const char *proto; /* "string(string, int, [int])": see builtins.def */
	uint32_t id;
	uint64_t version;
	const char *help;
};
extern const struct dt_builtin_var_desc dt_builtin_vars[];
extern const size_t dt_nbuiltin_vars;
extern const struct dt_subr_desc dt_subrs[]; /* in order of number, without gaps in the array */
extern const size_t dt_nsubrs;
const struct dt_subr_desc *dt_subr_find(uint32_t id);
const struct dt_builtin_var_desc *dt_builtin_var_find(uint32_t id);

/* ---- actions: their kinds and properties are in dif/actions.h ---- */

/* One action: at most one DIFO and at most one datum in the record. Faults name actions by their
 * place in the clause, counted from 1. */
typedef struct dt_action {
	enum dt_act kind;
	dt_difo *difo;	 /* NULL: no expression (stack(), printf without arguments ...) */
	dt_difo *incr;	 /* quantizers: the increment; NULL: 1 */
	uint64_t arg;	 /* frames | strsize << 32 for stacks; parameter word of (l|ll)quantize;
			    constant size of tracemem; control and speculate(): graph.c */
	uint32_t ntuple; /* aggregating actions: how many actions before this one are its keys
			    (the first is the aggregation id); leaders of printf-like: their arguments */
	uint32_t size;	 /* bytes this action adds to the record: 0 = none */
	uint32_t align;
	uint32_t given;	 /* 1 + the action of the machine's part whose datum it has; 0: its own. lang/split.c */
} dt_action;

/* Bytes that an action adds to the record, from its kind, arg and DIFO. 64 bits: files can say anything. */
uint64_t dt_datum_size(const dt_action *a, uint32_t *align);
bool dt_datum_is_string(const dt_action *a); /* with a NUL somewhere in these bytes */
/* Is the key a number? Rows are then equal by its value, whatever the size of the expression. */
bool dt_key_is_number(const dt_action *a);

struct dt_format; /* dif/format.h */
struct dt_agg;

typedef struct dt_stmt {
	enum dt_stmt_kind kind;
	uint32_t first, nactions; /* its actions in the clause */
	struct dt_format *format; /* printf-like, printa; NULL: none given */
	const char *format_text;
	struct dt_agg **aggs; /* printa, clear, trunc, normalize, denormalize, and DT_ST_AGG */
	uint32_t naggs;
	dt_type *type; /* print(): the type printed */
	dt_pos pos;
	const dt_place *place; /* of a fault that is not one of an expression: a loop without a condition; NULL: none */
} dt_stmt;

/* An aggregation: one per name in a session, shared by all clauses that use it. */
typedef struct dt_agg {
	const char *name; /* "_" for a bare @ */
	uint32_t id;	  /* from 1 */
	enum dt_act func; /* DT_ACT_COUNT ...; DT_ACT_NONE while only mentioned */
	uint64_t param;	  /* parameter word of lquantize and llquantize */
	uint32_t nkeys;
	dt_action *keys;  /* kind, size and difo->rtype/type of each key, from its first use;
			     the leading aggregation id is not among them */
	uint32_t nwords;  /* u64 words of a value */
} dt_agg;
/* A statement has these keys: of numbers the aggregation keeps the widest, which the consumer takes them for. */
void dt_agg_widen_keys(dt_agg *agg, const dt_action *keys);

/* Probe description: four patterns, or an id. Empty string: anything. */
typedef struct dt_probedesc {
	uint32_t id; /* != 0: this probe only */
	const char *prov, *mod, *func, *name;
	const char *machine; /* a pattern, with option machines; NULL: the machine of the user */
} dt_probedesc;

/* ---- pdesc.c ---- */
enum { DT_PDESC_PROV, DT_PDESC_MOD, DT_PDESC_FUNC, DT_PDESC_NAME, DT_PDESC_NFIELDS };
struct dt_pdesc_field {
	const char *name;
	size_t max; /* characters */
};
extern const struct dt_pdesc_field dt_pdesc_fields[DT_PDESC_NFIELDS];

struct dt_pdesc_input {
	const char *text;
	int last;	 /* DT_PDESC_*: which field the last one written is */
	dt_arena *arena; /* for the fields */
	bool machines;	 /* a field before all others names machines */
	const char *(*expand)(void *arg, const char *field); /* replace macros; NULL: there are none */
	void *arg;
};
/* 0, or -1 when a field is too long. */
int dt_pdesc_check(const dt_probedesc *d, dt_error *err);
/* 0, or -1 and what is wrong with the text. */
int dt_pdesc_parse(const struct dt_pdesc_input *in, dt_probedesc *out, dt_error *err);

/* A clause after compilation: one per probe description of the source clause. */
typedef struct dt_clause {
	dt_probedesc desc;
	dt_difo *pred; /* NULL: none */
	dt_action *actions;
	uint32_t nactions;
	dt_stmt *stmts; /* none: default action */
	uint32_t nstmts;
	dt_attr desc_attr, stmt_attr;
	bool destructive;
	dt_pos pos;
	uint32_t who;	 /* 1 + the place of three actions that record pid, tid and execname for the writer; 0: none */
	uint32_t source; /* which source clause it came from (if/else and description lists share it) */
	uint32_t number; /* from 0, of all clauses of the text, those that are not for this machine included */
	bool elsewhere;	 /* it runs on other machines only */
	const struct dt_rest *rest; /* what its record is for; NULL: for the consumer */
} dt_clause;

/* With option machines (lang/split.c): the part of a clause that runs at the front, when a record of it comes. The first datum
 * of such a record is the thread. */
typedef struct dt_rest {
	dt_clause *clause;
	const uint32_t *vars; /* for each action: the clause-local variable of the front that gets its datum; 0: none */
} dt_rest;

/* ---- clause.c ----
 *
 * Every DIFO of a clause in the order in which they run: the predicate, then for each action its
 * expression and its increment; after each the functions that it calls.
 *	DT_EACH_DIFO(it, clause)
 *		use(it.difo, it.action);
 */
typedef struct dt_difo_iter {
	dt_difo *difo;
	uint32_t action; /* 0: the predicate; else the action, counted from 1 */
	uint64_t place;	 /* where to continue */
	const dt_difo *caller; /* whose functions come next; NULL: none */
	uint32_t function;
} dt_difo_iter;
bool dt_clause_next(const dt_clause *c, dt_difo_iter *it); /* false: no more */
#define DT_EACH_DIFO(it, c) for (dt_difo_iter it = {0}; dt_clause_next((c), &it);)
/* The source of the instruction at this offset in bytes, or of the whole for a negative one. NULL: not known. */
const dt_place *dt_difo_place(const dt_difo *d, int32_t offset);
bool dt_clause_reads(const dt_clause *c, uint32_t var); /* a built-in variable: DT_VAR_* */
bool dt_clause_is_destructive(const dt_clause *c); /* by an action, or by what a DIFO does */
bool dt_clause_destroys_there(const dt_clause *c); /* where its probe fires; system() and freopen() act where the record is taken */
/* Does it use what only the kernel has: its memory, registers, stacks, the current task? */
bool dt_clause_needs_kernel(const dt_clause *c);

/* ---- graph.c: the blocks of a clause ---- */
#define DT_LOOPS_MAX 64 /* of a clause */
#define DT_BODIES_MAX 256 /* functions in a clause */
static inline uint32_t dt_control_target(const dt_action *a) /* where the clause continues */
{
	return (uint32_t)a->arg;
}
static inline uint32_t dt_control_number(const dt_action *a) /* AGAIN: which loop, CALL and RETURN: which function, from 0 */
{
	return (uint32_t)(a->arg >> 32);
}
static inline bool dt_effect_is_control(enum dt_effect e)
{
	return e == DT_EFFECT_BRANCH || e == DT_EFFECT_JUMP || e == DT_EFFECT_AGAIN || e == DT_EFFECT_CALL ||
	       e == DT_EFFECT_RETURN;
}
bool dt_clause_has_control(const dt_clause *c);
uint32_t dt_clause_loops(const dt_clause *c);	  /* how many */
uint32_t dt_clause_functions(const dt_clause *c); /* how many it has in itself */
/* leads[i], for nactions + 1 actions: a block begins there. */
void dt_clause_blocks(const dt_clause *c, bool *leads);
/* n actions were put before those of the statements. */
void dt_clause_shift(dt_clause *c, uint32_t n);
/* 0, or -1 and *err: an action that goes where it must not. */
int dt_control_verify(const dt_clause *c, dt_error *err);

/* A USDT provider declared in the program. */
typedef struct dt_provider_probe {
	const char *name; /* as D sees it, with '-' */
	dt_type **native;
	const char **native_names;
	uint32_t nnative;
	dt_type **xlated;
	uint32_t nxlated;
	uint8_t *map; /* xlated[i] is made from native[map[i]] */
} dt_provider_probe;
typedef struct dt_provider_decl {
	const char *name;
	dt_provider_probe *probes;
	uint32_t nprobes;
	dt_attr attrs[5]; /* provider module function name args */
} dt_provider_decl;

typedef struct dt_program {
	const char *name; /* script path or the text up to the first { / ; */
	bool is_script;
	dt_clause *clauses;
	uint32_t nclauses;
	dt_provider_decl *providers;
	uint32_t nproviders;
	dt_attr desc_attr, stmt_attr; /* minimum over the clauses */
	const dt_options *options;    /* the session's, for DOF */
} dt_program;

/* ---- printing (-S) ---- */
void dt_difo_print(const dt_difo *d, dt_buf *out);
void dt_diftype_print(const dt_diftype *t, dt_buf *out);
void dt_program_print(const dt_program *p, dt_buf *out); /* every DIFO, predicates first */

/* ---- verifying ---- */
struct dt_verify_opts {
	uint32_t nregs, ntregs; /* 0: DT_DIF_NREGS, DT_DIF_NTREGS */
	uint32_t max_global, max_thread, max_local; /* highest user variable ids declared; 0 = not checked */
	bool allow_xlate;
};
/* 0, or -1 with EDT_DIFINVAL and "at DIF offset N: why". Sets d->destructive. */
int dt_difo_verify(dt_difo *d, const struct dt_verify_opts *o, dt_error *err);
/* Every DIFO of the program, and that variables agree between them. */
int dt_program_verify(dt_program *p, const struct dt_verify_opts *o, dt_error *err);

#endif

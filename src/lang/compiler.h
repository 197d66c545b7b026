/*
 * compiler: shared by the files of src/lang; private to the module.
 */
#ifndef DT_COMPILER_H
#define DT_COMPILER_H

#include "lang/lang.h"

/* ---- lexer state ---- */
enum dt_lexmode { LEX_OUTER, LEX_EXPR };

typedef struct dt_token {
	int kind; /* enum dt_tok or a character */
	dt_pos pos;
	uint64_t ival;	   /* T_INT */
	dt_type *type;	   /* T_INT: its type */
	const char *text;  /* identifiers, strings (escapes undone), probe descriptions */
	uint32_t len;
	const char *module; /* scoped identifier: module`text; "" for `text; T_IMPORT, T_MODULE: the version, or "" */
	const char *from, *to; /* as written */
} dt_token;

typedef struct dt_lexer {
	const char *text, *p, *end;
	const char *file; /* from # n "file"; NULL: the source itself */
	const char *first_file; /* what `file` was at first: a library's path */
	uint32_t line;
	const char *line_start;
	enum dt_lexmode mode;
	int parens, brackets, braces; /* nesting, to find the end of a predicate */
	bool in_predicate;
	bool before_tag; /* "struct" of a process was the last word */
	int last;	 /* kind of the last token read; 0: there is none */
	dt_token tok;	 /* current */
	const char *end_before; /* where the one before it ends */
	/* line markers: are we inside an included file? */
	const char *main_file; /* named by the first marker */
	int include_depth;
	bool has_marker_flags;
	/* __attribute__ skipped since the parser last cleared these */
	bool packed;
	uint32_t aligned;
} dt_lexer;

struct dt_pragma { /* attributes, binding: applied when the name is defined */
	enum { PRAGMA_ATTR, PRAGMA_BINDING } kind;
	const char *name;
	dt_attr attr;
	uint64_t version;
	dt_pos pos;
	bool used;
	struct dt_pragma *next;
};

/* A scope of formal parameters while an inline or translator expression is checked. */
struct dt_binding {
	const char *name;
	dt_node *value; /* already checked; copied into place */
	struct dt_binding *next;
};

/* Inlines being expanded: one of them inside itself is an error. */
struct dt_expansion {
	const struct dt_inline *inl;
	const struct dt_expansion *outer;
};

struct dt_module {
	const char *name, *path;
	uint64_t version; /* 0: it has none */
	bool declared;	  /* "module name;" was read */
	dt_map *own;	  /* module.c */
};

/* A provider declared by some program of the session. */
struct dt_known_provider {
	dt_provider_decl decl;
	uint32_t made, declared; /* the compile that declared it first, last */
};

/* What all compiles of a session share. */
struct dt_shared {
	struct dt_library_source libraries; /* no functions: no libraries */
	uint32_t nlibraries;		    /* how often one was compiled when a name was unknown */
	uint32_t clause;		    /* a number for each clause that is checked, and each attempt that failed */
	dt_map *globals, *thread_locals, *clause_locals, *aggs; /* name -> dt_ident * */
	uint32_t next_global, next_thread, next_local, next_agg; /* next ids, from DT_VAR_USER_MIN / 1 */
	dt_map *defined;   /* "struct tag" and names of types that a program or library has defined -> the compile that did */
	dt_map *xlators;   /* tag of the output -> first translator to it */
	dt_map *providers; /* name -> struct dt_known_provider * */
	dt_map *modules;   /* name -> struct dt_module *, compiled; NULL: none yet */
	struct {
		uint64_t id; /* 0: all processes */
		uint32_t level;
	} cgroup;	      /* dt_compiler_set_cgroup() */
	const struct dt_here *here; /* NULL: there is one machine */
	dt_map *kept; /* at the front: split.c; NULL: none yet */
	uint32_t nprocedures; /* defined so far */
	uint32_t nconditions; /* numbering of %condition_N */
	uint32_t generation;  /* of the newest compile */
	dt_compiler *active;  /* the innermost compile; NULL: none */
};

/* The handle, and the state of one compile: each has its own (compile.c), so that one can run while
 * another waits for it. They share only `shared`, the arenas and the tables. */
struct dt_compiler {
	struct dt_shared *shared;
	dt_arena *arena;
	dt_arena *scratch; /* what the generator needs for one DIFO */
	dt_arena *aside;   /* statements of the clause at hand, not yet checked; NULL: none */
	dt_types *types;
	dt_options *opts;
	struct dt_macros *macros;
	struct dt_probe_source probes;
	dt_buf *dump_parsed, *dump_sugar; /* clauses as D text, as parsed and as compiled; NULL: no */
	/* error unwinding */
	jmp_buf jmp;
	dt_error *err;
	/* the current compile */
	dt_compiler *outer; /* the compile that waits for this one; NULL: none */
	uint32_t generation;
	DT_VEC(dt_ident *) undo; /* made by this compile */
	dt_map *pragmas; /* name -> those that wait for it, newest first */
	struct dt_module *module; /* what is compiled is this module; NULL: none */
	dt_map *imports;	  /* name -> struct dt_module *, of this text; NULL: none yet */
	const struct dt_source *src; /* NULL: a single type or expression */
	bool one_line; /* it is a program of one line, on the command line */
	dt_lexer lex;
	dt_token ahead[4]; /* after cc->lex.tok: looked at, not yet taken */
	int nahead;
	int depth; /* recursion guard for parser and checker: DT_MAX_DEPTH */
	uint32_t nlinks; /* operators in the expression being parsed: DT_MAX_LINKS */
	const dt_param *formals; /* of the inline or translator being parsed: not type names */
	uint32_t nformals;
	struct dt_function *function; /* whose body is being parsed; NULL: none */
	struct dt_name_set *assigned; /* globals assigned to so far in this program: not type names */
	dt_program *prog;
	DT_VEC(dt_difo *) functions; /* of the program, that are compiled once */
	DT_VEC(dt_clause) clauses;
	DT_VEC(struct dt_known_provider *) prog_providers; /* those that this program declares */
	DT_VEC(dt_lexer) clause_starts; /* to read them again; nothing is ahead there */
	uint32_t nsource_clauses;
	uint32_t ndescribed; /* clauses so far, one for each description */
	uint32_t predicate, body; /* columns of the '/' and '{' of the clause at hand; 0: not read yet */
	bool need_error_clause;
	bool kept_grew; /* something more is kept at the front: clauses are compiled again */
	uint32_t in_loop, in_breakable; /* statements being parsed: inside so many loops; loops and switches */
	uint32_t in_switch;		/* being checked: inside so many */
	bool library_failed;	    /* the error is that of a library */
	struct dt_exports *exports; /* not a compile: only lists what the text defines */
	/* the clause being checked */
	const dt_probedesc *desc;
	struct dt_probe_args *pargs; /* args[] of that description; NULL until asked */
	uint32_t pargs_libraries;    /* nlibraries then: a new one may define their types */
	struct dt_binding *bindings;
	const struct dt_expansion *expansions;
	uint32_t foreseen, nforeseen; /* functions defined when the text was searched for calls; how often it was */
	struct dt_instance *instances; /* the same, when all of them are there */
	uint32_t asked; /* how often something was found out about the probe: args[], its process */
	struct dt_invocations *invoked; /* functions that the clause has once: invoke.c; NULL: none */
	uint32_t calls;	   /* of functions being checked, one inside the other */
	uint32_t attempts; /* left operands of ?? being checked */
	bool defining;	   /* an inline or translator is being checked where it is defined, not where it is used */
	uint32_t unjudged; /* inside a definition whose declared stability counts */
	uint32_t expanded; /* nodes copied from inlines and translators in this clause */
	dt_attr clause_attr; /* minimum of everything used so far */
};

static const dt_attr dt_best_attr = {DT_STAB_STANDARD, DT_STAB_STANDARD, DT_CLASS_COMMON};
#define DT_MAX_DEPTH 512 /* nesting of expressions and types; deeper is D_SYNTAX */
/* Left-associative chains (1+1+1..., a.b.c...) are parsed by iteration but make a tree as deep as
 * the chain is long, and copying and printing recurse over it: at some 200 bytes of stack a level
 * this bound keeps them below a megabyte. */
#define DT_MAX_LINKS 4096

/* ---- lex.c, lex_word.c, lex_blank.c ---- */
void dt_lex_start(dt_compiler *cc, const char *text, size_t len, enum dt_lexmode mode);
void dt_lex_next(dt_compiler *cc);	   /* advance cc->lex.tok */
const dt_token *dt_lex_peek(dt_compiler *cc, int n); /* 0: the token after the current one */
const char *dt_tok_name(const dt_token *t, dt_buf *scratch); /* for "near ..." */
/* D_SYNTAX at the current token: "syntax error near \"x\"" when fmt is NULL. */
_Noreturn void dt_syntax(dt_compiler *cc, const char *fmt, ...) DT_PRINTF(2, 3);
dt_pos dt_lex_pos(const dt_compiler *cc);     /* where the lexer reads now */
bool dt_lex_included(const dt_compiler *cc); /* in a header: its types go into container "C" */
int dt_keyword(const char *word, size_t len); /* its token, or 0 */
void dt_lex_expect(dt_compiler *cc, int kind, const char *what); /* take this token or fail */
void dt_lex_skip_block(dt_compiler *cc, int close); /* from the current token to this one, unread */
/* The text of line pos.line, for the caret; "" when it is not in the current buffer. */
void dt_lex_source_line(dt_compiler *cc, dt_pos pos, char *out, size_t n);

/* ---- lex_const.c ---- */
/* Each reads one constant at lex.p, which it moves. */
void dt_lex_number(dt_compiler *cc, dt_token *t);
void dt_lex_char(dt_compiler *cc, dt_token *t);
void dt_lex_string(dt_compiler *cc, dt_token *t); /* one literal */
/* The type by C99 of a constant without suffix. */
dt_type *dt_int_constant_type(dt_compiler *cc, uint64_t v, bool decimal, bool is_unsigned, int nlong);

/* ---- macro.c ---- */
/* Value of $name or $$name ("1", "target"): fills tok with T_INT, T_IDENT or T_STRING. */
void dt_macro_expand(dt_compiler *cc, const char *name, bool as_string, dt_token *tok);
/* Replace macros in one field of a probe description. */
const char *dt_macro_in_field(dt_compiler *cc, dt_pos pos, const char *field);
void dt_macro_check_unused(dt_compiler *cc);

/* ---- pragma.c ---- */
/* One control line, without '#' and newline; may change position, options, libraries. */
void dt_control_line(dt_compiler *cc, const char *line, size_t len);
/* Attach pending attributes/binding pragmas to a new identifier or translator. */
void dt_pragma_apply(dt_compiler *cc, dt_ident *id);
void dt_pragma_apply_xlator(dt_compiler *cc, dt_xlator *x);
void dt_pragma_check_unused(dt_compiler *cc);

/* ---- library.c ---- */
/* Compile what defines this unknown name, if a library does; true: look it up again. */
bool dt_library_for(dt_compiler *cc, const char *name);
bool dt_library_for_type(dt_compiler *cc, const dt_type *t);	/* its name and its tag */
bool dt_library_for_text(dt_compiler *cc, const char *text);	/* "psinfo_t *": each word */
bool dt_library_require(dt_compiler *cc, const char *library); /* false: it is not available */
_Noreturn void dt_library_fail(dt_compiler *cc, const dt_error *e); /* with an error of a library */

/* ---- module.c, exports.c ---- */
void dt_module_start(dt_compiler *cc);	/* before a module's text is parsed: finds its names */
void dt_module_finish(dt_compiler *cc); /* it is compiled: others can import it */
void dt_module_end(dt_compiler *cc);	/* of any compile, also of one that failed */
void dt_exports_of_module(dt_compiler *cc, const char *text, size_t len, dt_map *own);
/* For exports.c: the module defines the name. */
void dt_module_note(dt_map *own, const char *name, int kind, bool is_exported);
void dt_modules_free(struct dt_shared *shared);
void dt_parse_import(dt_compiler *cc); /* at T_IMPORT */
void dt_parse_module(dt_compiler *cc); /* at T_MODULE */
/* module::name as written in the program: the full name. Fails if it is not exported. `kind`: '.' a tag, '@' an aggregation,
 * 0 anything else. */
const char *dt_module_name(dt_compiler *cc, dt_pos pos, const char *module, const char *name, int kind);
/* A word of the text of a module: its full name if the module defines it. */
const char *dt_module_word(dt_compiler *cc, const char *word, int kind);
/* self->name, this->name, @name of the text of a module: always its own. */
const char *dt_module_private(dt_compiler *cc, const char *name);
const char *dt_module_bare(const dt_compiler *cc, const char *word); /* undoes dt_module_word(), for members */
bool dt_is_imported(const dt_compiler *cc, const char *module, size_t len);

/* ---- parse.c ---- */
/* Parse the whole source. Declarations take effect at once (decl.c); each clause is handed to
 * dt_clause_compile() in order. */
void dt_parse_program(dt_compiler *cc);
void dt_parse_clauses_again(dt_compiler *cc); /* with what is known at the end of the program */
/* Probe description text -> four fields, macros replaced. Fails with D_PDESC_INVAL. */
void dt_parse_pdesc(dt_compiler *cc, const char *text, dt_pos pos, dt_probedesc *out);

/* ---- parse_stmt.c ---- */
dt_node *dt_parse_whole(dt_compiler *cc);      /* a statement's expression, a predicate, a condition */
dt_node *dt_parse_statements(dt_compiler *cc); /* a list, up to '}', which is not taken */

/* ---- parse_expr.c ---- */
dt_node *dt_parse_expr(dt_compiler *cc);   /* with commas */
dt_node *dt_parse_assign(dt_compiler *cc); /* without: one argument */
/* A name after '.', '->' and in offsetof: keywords are allowed there. */
const char *dt_parse_member_name(dt_compiler *cc);

/* ---- decl.c, decl_spec.c, declarator.c, decl_xlator.c, decl_provider.c ---- */
bool dt_starts_type(dt_compiler *cc); /* does the current token begin a type name? */
dt_type *dt_parse_type_name(dt_compiler *cc); /* abstract declarator, as in a cast */
/* The same; *implied: a pointer to user memory only because its type is a user program's. */
dt_type *dt_parse_cast_type(dt_compiler *cc, bool *implied);
/* One external declaration: variables, typedefs, tags, inline, extern; up to its ';'. */
void dt_parse_declaration(dt_compiler *cc);
void dt_parse_translator(dt_compiler *cc);
void dt_parse_provider(dt_compiler *cc);

/* ---- function.c ---- */
/* A statement that only functions have (return, local variables): *out, a list. False: it is another. */
bool dt_function_statement(dt_compiler *cc, dt_node **out);
/* Fails with the cycle if the function of this name is being defined. */
void dt_function_cycle(dt_compiler *cc, const char *name, dt_pos pos);

/* ---- procedure.c, hoist.c, invoke.c ---- */
/* A function as a clause has it: other clauses get the same. */
struct dt_ready_call {
	const dt_ident *id;
	dt_node *const *values; /* of its names */
	uint32_t action; /* CALL, from 0 */
};
struct dt_ready {
	dt_node *const *values;
	const struct dt_action *actions; /* RETURN is the last one */
	uint32_t nactions, first; /* first: their place in that clause */
	const struct dt_stmt *stmts;
	uint32_t nstmts;
	uint32_t loop, nloops;
	const struct dt_ready_call *calls;
	uint32_t ncalls;
	dt_attr attr;
	bool has_agg;
	uint32_t generation; /* the compile that made it */
	struct dt_ready *next;
};
/* Of the N_INVOKED with this number: NULL if it is compiled. */
const struct dt_ready *dt_invoke_ready(const dt_compiler *cc, uint64_t number);
void dt_invoke_keep(dt_compiler *cc, uint64_t number, const struct dt_ready *r);
uint64_t dt_invoke_number(const dt_compiler *cc, const struct dt_ready_call *call); /* of the one that is called */
struct dt_ready_call dt_invoke_call(const dt_compiler *cc, uint64_t number, uint32_t action); /* the reverse */
void dt_procedures_paste(dt_compiler *cc, dt_node **list); /* in place of their calls */
void dt_invoke_begin(dt_compiler *cc, const dt_node *clause); /* before them */
void dt_invoke_end(dt_compiler *cc, dt_node *clause);
void dt_hoist_from_predicate(dt_compiler *cc, dt_node *clause); /* calls of functions with loops */

/* ---- decl_tag.c ---- */
/* Has this program, or another of the session, or a library defined "struct tag" or a type of this name? A library may
 * say again what others have. */
bool dt_is_defined(dt_compiler *cc, const char *name);
void dt_set_defined(dt_compiler *cc, const char *name);
void dt_definitions_undo(dt_compiler *cc); /* after a failed compile */

/* ---- node.c ---- */
dt_node *dt_node_new(dt_compiler *cc, enum dt_nkind kind, dt_pos pos);
dt_node *dt_node_int(dt_compiler *cc, dt_pos pos, uint64_t v, dt_type *t);
dt_node *dt_node_op1(dt_compiler *cc, int op, dt_node *l);
dt_node *dt_node_op2(dt_compiler *cc, int op, dt_node *l, dt_node *r);
dt_node *dt_node_copy(dt_compiler *cc, const dt_node *n); /* deep, with list links below it */
dt_node *dt_node_copy_list(dt_compiler *cc, const dt_node *n);
uint32_t dt_node_count(const dt_node *list); /* nodes */
void dt_node_print(dt_compiler *cc, const dt_node *n, dt_buf *out); /* as D text */
uint32_t dt_list_len(const dt_node *list);
bool dt_is_assign_op(int op);
bool dt_is_step_op(int op); /* ++ and -- */
int dt_op_prec(int op);		/* binary operators: 0 ',' ... 13 '*'; -1: not one */
const char *dt_op_text(int op); /* as written */
void dt_depth_enter(dt_compiler *cc, dt_pos pos); /* D_SYNTAX "nested too deeply" */
void dt_depth_leave(dt_compiler *cc);

/* ---- ident.c ---- */
void dt_idents_init(dt_compiler *cc); /* built-ins, subroutines, actions, NULL */
dt_ident *dt_ident_find(dt_compiler *cc, const char *name, int scope_tok /* 0, T_SELF, T_THIS */);
dt_ident *dt_ident_new(dt_compiler *cc, const char *name, enum dt_idkind kind, int scope_tok,
		       dt_pos pos); /* takes the next id; D_ID_OFLOW */
/* A built-in subroutine whose name a program may use for something else (DT_SUBR_SOFT); NULL: there is none. */
dt_ident *dt_ident_soft(dt_compiler *cc, const char *name);
dt_ident *dt_agg_find(dt_compiler *cc, const char *name);
dt_ident *dt_agg_get(dt_compiler *cc, const char *name, dt_pos pos); /* find or make */
void dt_idents_undo(dt_compiler *cc); /* after a failed compile */
/* "; did you mean \"execname\"?" or "". */
const char *dt_suggest(dt_compiler *cc, const char *name, enum dt_idkind like);
/* The same for self-> (T_SELF) and this-> (T_THIS). */
const char *dt_suggest_scoped(dt_compiler *cc, const char *name, int scope);

/* ---- check*.c ---- */
/* Check an expression: every node gets a type; names are resolved to N_VAR, N_FUNC, N_SYM and
 * N_INT; inlines, translators and args[] are expanded; constants are folded. Returns the node to
 * use in place of n. Afterwards only N_INT, N_STRING, N_VAR, N_SYM, N_FUNC (subroutines), N_OP1
 * ('+' is gone; sizeof is folded), N_OP2, N_OP3 are left; and N_AGG and N_FUNC of actions and
 * aggregating functions, which the generator refuses inside of an expression. */
dt_node *dt_check(dt_compiler *cc, dt_node *n);
/* Mistakes in offsetof are found when an expression has been read; those inside of ?? by dt_check(). */
void dt_check_offsets(dt_compiler *cc, const dt_node *n);
dt_ident *dt_call_ident(dt_compiler *cc, const dt_node *n); /* what n calls; D_FUNC_* */
/* Is it an integer constant after checking? */
bool dt_node_is_const_int(const dt_node *n, int64_t *v);
/* Parsed expression that must fold to an integer (array dimensions, enumerators, widths). */
bool dt_check_const(dt_compiler *cc, dt_node *n, int64_t *v, dt_type **type);
bool dt_node_is_string(const dt_node *n); /* string type */
void dt_check_args_count(dt_compiler *cc, dt_node *call, uint32_t min, uint32_t max,
			 enum dt_tag tag);
/* dt_node_copy() for substitution: counted and limited. */
dt_node *dt_node_expand(dt_compiler *cc, const dt_node *n, dt_pos pos);
dt_node *dt_node_expand_list(dt_compiler *cc, const dt_node *list, dt_pos pos);
dt_xlator *dt_xlators_to(dt_compiler *cc, dt_type *out); /* the first; others follow by next */
void dt_providers_undo(dt_compiler *cc);
void dt_xlators_undo(dt_compiler *cc);			  /* after a failed compile */
dt_xlator *dt_xlator_find(dt_compiler *cc, dt_type *in, dt_type *out);
/* n, as the struct that it is translated to, if it is one as a whole. */
dt_node *dt_xlate_object(dt_node *n);
/* For the generator: the members of a translated object, as a list of assignments to offsets in it. */
dt_node *dt_xlate_members(dt_compiler *cc, dt_node *object);
void dt_inline_check(dt_compiler *cc, dt_ident *id); /* its definition, once, when it is read */
void dt_xlator_check(dt_compiler *cc, dt_xlator *x); /* its member expressions, once, at definition */
uint64_t dt_fit(dt_compiler *cc, uint64_t v, dt_type *t); /* cut to t and extended again */
/* The type of n after integer promotion: a bit-field counts by its width. */
dt_type *dt_promoted(dt_compiler *cc, const dt_node *n);
/* The type a node has when stored or recorded. */
dt_diftype dt_diftype_of(dt_compiler *cc, dt_type *t);
/* "struct foo *" for messages. */
const char *dt_tname(dt_compiler *cc, const dt_type *t);

/* ---- sugar.c ---- */
/* With option control=clauses, a clause with if statements becomes a list of plain clauses; others
 * are returned unchanged. */
dt_node *dt_desugar(dt_compiler *cc, dt_node *clause);
/* dtrace:::ERROR { self->%error = 1; }, added once to a program that used if. */
dt_node *dt_sugar_error_clause(dt_compiler *cc);

/* ---- blocks.c ---- */
/* Check the expressions of all statements of the list, in their order; they are replaced. */
void dt_blocks_check(dt_compiler *cc, dt_node *list);
/* Checked statements -> actions. */
struct dt_clause_builder;
void dt_blocks_compile(dt_compiler *cc, struct dt_clause_builder *b, dt_node *list);

/* ---- gen.c / asm.c ---- */
/* A place in the source for what is not an expression. */
const dt_place *dt_place_new(dt_compiler *cc, dt_pos pos, const char *text);
/* Checked expression -> DIFO with `ret` of its value. `record`: the value is data (rtype as the
 * type says); otherwise it is for effect and rtype has size 0. */
dt_difo *dt_gen_expr(dt_compiler *cc, dt_node *n, bool record);
dt_difo *dt_gen_const(dt_compiler *cc, int64_t v, dt_type *t); /* setx v; ret */

/* ---- gen_function.c ---- */
/* The n actions of a function in a clause: they get the DIFOs of those in earlier clauses if these have the same code. */
void dt_gen_share_body(dt_compiler *cc, struct dt_inline *inl, dt_action *actions, uint32_t n);

/* ---- action.c ---- */
typedef struct dt_clause_builder {
	dt_clause *clause;
	DT_VEC(dt_action) actions;
	DT_VEC(dt_stmt) stmts;
	/* order rules; the first three are about the block at hand, and speculate() about its braces */
	bool has_commit, has_record, has_exit, has_speculate, has_agg;
	uint32_t nloops;
} dt_clause_builder;

struct dt_action_desc {
	const char *name;
	enum dt_act kind;
	enum dt_stmt_kind stmt;
	uint64_t version;
	const char *types; /* of result and arguments: actions.def */
	/* check the arguments (raising the action's own tags) and add statement and actions */
	void (*compile)(dt_compiler *cc, dt_clause_builder *b, dt_node *call,
			const struct dt_action_desc *d);
};
extern const struct dt_action_desc dt_action_table[]; /* ends with a NULL name */
extern const struct dt_action_desc dt_aggfunc_table[];
dt_node *dt_stmt_check(dt_compiler *cc, dt_node *expr);
/* One checked statement -> actions, by the actions' own rules. */
void dt_stmt_compile(dt_compiler *cc, dt_clause_builder *b, dt_node *expr);

/* ---- check_else.c ---- */
/* Run `work`; false, with the compiler's state restored and *err set, if it found an error in the
 * program. */
typedef void dt_work_f(dt_compiler *cc, void *arg);
bool dt_attempt(dt_compiler *cc, dt_work_f *work, void *arg, dt_error *err);

/* ---- compile.c ---- */
/* Run `work` as a separate compile, possibly inside another. False, with *err set and all its
 * definitions undone, if it fails. */
bool dt_compile_run(const dt_compiler *handle, dt_work_f *work, void *arg, dt_error *err);
/* One parsed clause: desugar, check, generate; appends to cc->clauses, one per description. */
void dt_clause_compile(dt_compiler *cc, dt_node *clause);

#endif

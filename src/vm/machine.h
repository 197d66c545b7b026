/*
 * machine: shared by the files of src/vm; private to the module.
 *
 * A machine (dt_vm) is everything one DIFO can see while it runs: memory (scratch, variables,
 * constant strings), the firing it belongs to, and the fault it may end in. The engine (vm.c) owns
 * one machine; dt_vm_eval() and the tests create their own.
 *
 * Addresses are those of this process, but no address is dereferenced before vm_memory.c has found
 * it inside a region the program may use. A fault is a value: the first one is kept in vm->fault,
 * every function below then returns 0, NULL or false, and the interpreter stops at that
 * instruction.
 *
 * Strings: the option strsize counts characters. Here strsize is one more, the bytes of such a string with its
 * NUL; at most strsize - 1 characters of an operand are used, whatever its memory holds.
 */
#ifndef DT_VM_MACHINE_H
#define DT_VM_MACHINE_H

#include "engine/record_plan.h"
#include "vm/vm.h"

typedef struct dt_vm dt_vm;

/* ---- the firing a DIFO runs in ---- */
typedef struct dt_vm_firing {
	const dt_probe *probe; /* NULL: none (dt_vm_eval) */
	uint32_t epid;
	uint64_t args[10];
	uint32_t cpu;
	uint64_t thread; /* whose self-> it is, 46 bits; 0: there is one thread */
	const dt_datum *given; /* data of the machine's part: vm_front.c */
	uint64_t timestamp, walltimestamp; /* 0: not read yet */
	char *strtok; /* the rest to be split, strsize bytes; lives for one firing */
	bool strtok_live;
} dt_vm_firing;

/* ---- variables: vars.c and dynvar.c ---- */
typedef struct dt_vm_var {		 /* type and fixed storage of a user variable */
	bool byref, user, string, array; /* array: associative, values are dynamic */
	uint32_t size;			 /* by reference: bytes of the object */
	uint64_t offset;		 /* by reference: of the 8-byte prefix, in scope->statics */
} dt_vm_var;

typedef struct dt_vm_scope {
	dt_vm_var *v; /* index: id - DT_VAR_USER_MIN */
	uint32_t n;
	uint64_t *values; /* of those by value, the same index */
	uint8_t *statics; /* storage of those by reference */
	uint64_t statics_size;
	uint64_t *starts; /* where each one begins there, ascending */
	uint32_t nstarts;
} dt_vm_scope;

/* What changes in a pool. The process engine shares it with its targets, which may write anything there: every index is
 * checked before use. */
typedef struct dt_vm_dynstate {
	uint32_t lock;
	uint32_t fresh; /* chunks from here on were never used */
	uint32_t free;	/* list of freed chunks, index + 1 */
	uint64_t drops;
} dt_vm_dynstate;

typedef struct dt_vm_dynvars {
	uint8_t *pool;
	uint64_t chunk;	   /* bytes per variable */
	uint32_t nchunks;  /* 0: no pool */
	uint32_t *buckets; /* index + 1 */
	uint32_t nbuckets; /* a power of two */
	uint8_t *key;	   /* the key being looked up, `chunk` bytes; not shared */
	dt_vm_dynstate *state;
	uint64_t *direct;  /* of one thread: self-> variables by value, which need no chunk, by id - DT_VAR_USER_MIN; NULL: no */
} dt_vm_dynvars;

typedef struct dt_vm_arg { /* one entry of the tuple stack */
	uint8_t type;	   /* DT_TYPE_STRING or DT_TYPE_CTF */
	bool byref;	   /* pushed by pushtr: value is an address of size bytes */
	uint64_t value, size;
} dt_vm_arg;

struct dt_vm_region { /* read-only memory: string tables */
	uint64_t base, size;
};

struct dt_vm_specs; /* spec.c */

/* In a target process (src/process) stack is scarce, and the verifier has seen that there are no more than these. */
#ifdef DT_IN_TARGET
#define DT_VM_NREGS DT_DIF_NREGS
#define DT_VM_WAITS true
#else
#define DT_VM_NREGS 256
#define DT_VM_WAITS false
#endif

/* The process that clauses run for, if it is not this one (src/process). */
typedef struct dt_vm_person {
	long pid, parent;
	uint32_t uid;
	char name[64];
} dt_vm_person;

struct dt_vm {
	uint64_t strsize;
	uint32_t number; /* of those that share variables */
	/* scratch: [0, used) is the program's to write, [0, size) to read */
	uint8_t *scratch;
	uint64_t scratch_cap, scratch_size, scratch_used;
	uint64_t given, given_max; /* to alloca() and copyin() of this clause, and how much may be; 0: any */
	bool gave; /* to this clause, whatever the option */
	DT_VEC(struct dt_vm_region) regions; /* by address */
	/* variables */
	dt_vm_scope globals, threads, locals; /* threads: types only, the values are dynamic */
	dt_vm_dynvars dyn;
	dt_vm_dynvars own; /* self-> of a thread that shares `dyn` with others; no chunks: they are in dyn as well */
	/* texts of built-in variables: vm_builtin.c */
	char *texts;
	uint64_t texts_size;
	uint32_t texts_valid;
	uint64_t rand_state;
	struct dt_vm_specs *specs; /* NULL outside a session */
	dt_vm_firing *fire;
	const dt_vm_person *as; /* NULL: this process */
	/* the fault, when there is one */
	bool faulted;
	dt_fault fault; /* code, offset and value; the engine adds the rest */
};

/* ---- machine.c ---- */
/* A machine for these DIFOs: their variables and string tables. -1 and *err if out of memory. */
struct dt_vm_config {
	uint64_t strsize, scratch, given_max, dynvarsize;
	const dt_difo *const *difos;
	uint32_t ndifos;
};
int dt_vm_init(dt_vm *vm, const struct dt_vm_config *c, dt_error *err);
void dt_vm_fini(dt_vm *vm); /* also after dt_vm_init failed */
/* strtok() state and the rest of a firing; strtok is strsize bytes or NULL when there is no memory.
 */
bool dt_vm_firing_init(const dt_vm *vm, dt_vm_firing *f);
void dt_vm_firing_begin(dt_vm_firing *f, const dt_probe *probe, uint32_t cpu);

/* ---- interp.c ---- */
/* Run to ret, or to a fault (vm->faulted). Forgets an earlier fault; keeps scratch. */
uint64_t dt_vm_run(dt_vm *vm, const dt_difo *d);
/* Record a fault unless one is recorded already. Returns 0. */
uint64_t dt_vm_fault(dt_vm *vm, uint32_t code, uint64_t value);

/* ---- vm_memory.c ---- */
/* Zeroed memory, or NULL: sizes come from options, so failure is an error and not the end. */
void *dt_vm_memory(uint64_t n);
typedef struct dt_vm_str {
	const char *p; /* not NUL-terminated */
	size_t n;
} dt_vm_str;

void dt_vm_add_region(dt_vm *vm, const void *base, uint64_t size); /* then, once: */
void dt_vm_sort_regions(dt_vm *vm);
const void *dt_vm_readable(dt_vm *vm, uint64_t addr, uint64_t n); /* NULL: BADADDR */
void *dt_vm_writable(dt_vm *vm, uint64_t addr, uint64_t n);	  /* NULL: BADADDR */
/* At most limit - 1 characters. */
bool dt_vm_string(dt_vm *vm, uint64_t addr, uint64_t limit, dt_vm_str *s);
bool dt_vm_load_user(dt_vm *vm, uint64_t addr, void *to, uint64_t n);
/* A string from user memory: at most limit bytes with its NUL. */
bool dt_vm_load_user_string(dt_vm *vm, uint64_t addr, char *to, uint64_t limit);
/* Copy an object of a DIF type (strings: cut at size, NUL-terminated). */
bool dt_vm_copy(dt_vm *vm, uint64_t addr, void *to, uint64_t size, bool string, bool user);
void dt_vm_scratch_reset(dt_vm *vm);		     /* a firing begins: all is free */
void dt_vm_scratch_limit(dt_vm *vm, uint64_t size); /* a clause begins: it may use this much more */
void *dt_vm_alloc(dt_vm *vm, uint64_t n); /* zeroed, 8-aligned; NULL: NOSCRATCH */
/* The same of n bytes for alloca() and copyin(), which option scratchsize limits, and `more` after them. */
void *dt_vm_give(dt_vm *vm, uint64_t n, uint64_t more);

static inline uint64_t dt_vm_addr(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* ---- vars.c ---- */
int dt_vm_vars_init(dt_vm *vm, const struct dt_vm_config *c);
void dt_vm_vars_fini(dt_vm *vm);
uint64_t dt_vm_var_load(const dt_vm_scope *s, uint32_t id);
void dt_vm_var_store(dt_vm *vm, dt_vm_scope *s, uint32_t id, uint64_t value);
bool dt_vm_static_writable(const dt_vm_scope *s, uint64_t offset, uint64_t n);

/* ---- dynvar.c ---- */
int dt_vm_dyn_init(dt_vm *vm, const struct dt_vm_config *c);
void dt_vm_dyn_fini(dt_vm *vm);
/* thread: the variable belongs to the current thread. The tuple has n entries. */
uint64_t dt_vm_dyn_load(dt_vm *vm, uint32_t id, bool thread, const dt_vm_arg *tuple, uint32_t n);
void dt_vm_dyn_store(dt_vm *vm, uint32_t id, bool thread, const dt_vm_arg *tuple, uint32_t n,
		     uint64_t value);
void dt_vm_dyn_left(dt_vm *vm); /* a signal handler has left the firing for ever */
bool dt_vm_dyn_writable(const dt_vm_dynvars *d, uint64_t offset, uint64_t n);

/* ---- vm_builtin.c ---- */
int dt_vm_builtin_init(dt_vm *vm);
uint64_t dt_vm_builtin(dt_vm *vm, uint32_t id);
uint64_t dt_vm_builtin_array(dt_vm *vm, uint32_t id, uint64_t index);
void dt_vm_ustack(dt_vm *vm, uint64_t *frames, uint32_t n); /* they are 0 */
uint64_t dt_vm_now(void); /* CLOCK_MONOTONIC, nanoseconds */

/* ---- subr*.c: one function per row of builtins.def ---- */
#define DT_VM_SUBR_ARGS                                                                            \
	dt_vm *vm __attribute__((unused)), const dt_vm_arg *arg __attribute__((unused)),           \
	    uint32_t argc __attribute__((unused))
#define DT_VM_SUBR(sym)				 uint64_t dt_vm_subr_##sym(DT_VM_SUBR_ARGS)
#define DT_SUBR(sym, num, proto, ver, cls, help) DT_VM_SUBR(sym);
#include "dif/builtins.def"
#undef DT_SUBR
/* arg has DT_DIF_NTREGS entries; those from argc on are zero. */
uint64_t dt_vm_call(dt_vm *vm, uint32_t subr, const dt_vm_arg *arg, uint32_t argc);
/* A string operand: strsize applies. */
bool dt_vm_str_arg(dt_vm *vm, const dt_vm_arg *arg, dt_vm_str *s);
/* A new string of at most strsize bytes in scratch; returns its address. */
uint64_t dt_vm_str_result(dt_vm *vm, const char *p, size_t n);

/* ---- record.c: records in order, within a budget of bytes ---- */
struct dt_vm_ecb; /* vm.c */

typedef struct dt_vm_rec {
	struct dt_vm_rec *next;
	const struct dt_vm_ecb *ecb;
	uint64_t timestamp;
	uint32_t cpu;
	uint32_t cost; /* bytes it takes of the budget */
	uint32_t part; /* of the clause */
	bool continues; /* the same firing as the previous part */
	bool is_fault;
	dt_fault fault;
	uint8_t data[];
} dt_vm_rec;

typedef struct dt_vm_buf {
	dt_vm_rec *first, **last;
	uint64_t used, limit;
	bool ring; /* make room by forgetting the oldest */
} dt_vm_buf;

void dt_vm_buf_init(dt_vm_buf *b, uint64_t limit, bool ring);
void dt_vm_buf_clear(dt_vm_buf *b);
bool dt_vm_buf_fits(const dt_vm_buf *b, uint64_t cost, uint64_t reserve);
void dt_vm_buf_add(dt_vm_buf *b, dt_vm_rec *r); /* after dt_vm_buf_fits */
dt_vm_rec *dt_vm_buf_take(dt_vm_buf *b);	/* the oldest; the caller frees it */
/* Move all of `from` to the end of `to`, stamped; false: did not fit, all lost. */
bool dt_vm_buf_move(dt_vm_buf *to, dt_vm_buf *from, uint64_t timestamp, uint64_t reserve);

/* ---- spec.c ---- */
typedef struct dt_vm_specs dt_vm_specs;
dt_vm_specs *dt_vm_specs_new(uint64_t nspec, uint64_t specsize); /* NULL: no memory */
void dt_vm_specs_free(dt_vm_specs *s);
uint64_t dt_vm_spec_new(dt_vm_specs *s);
/* The buffer to write to, or NULL: id 0, or not active. *bad: invalid id. */
dt_vm_buf *dt_vm_spec_use(dt_vm_specs *s, uint64_t id, bool *bad);
/* What to commit, or NULL; the speculation is free again afterwards: dt_vm_spec_discard(). */
dt_vm_buf *dt_vm_spec_data(dt_vm_specs *s, uint64_t id, bool *bad);
void dt_vm_spec_discard(dt_vm_specs *s, uint64_t id, bool *bad);
/* For the process engine, whose targets have speculations of their own. */
bool dt_vm_spec_is_active(const dt_vm_specs *s, uint64_t id);
dt_vm_buf *dt_vm_spec_set(dt_vm_specs *s, uint64_t id, bool active, bool used); /* its records */
void dt_vm_specs_status(const dt_vm_specs *s, dt_status *st);
void dt_vm_spec_drop(dt_vm_specs *s);

/* ---- vm_agg.c ---- */
typedef struct dt_vm_aggs dt_vm_aggs;
dt_vm_aggs *dt_vm_aggs_new(uint64_t aggsize);
void dt_vm_aggs_free(dt_vm_aggs *as);
/* One key of the row being built; `cost` is its size in a fixed layout. */
void dt_vm_agg_begin(dt_vm_aggs *as);
void *dt_vm_agg_room(dt_vm_aggs *as, uint32_t n); /* zeroed memory to make a key in, until it is added */
void dt_vm_agg_key(dt_vm_aggs *as, const dt_datum *d, uint32_t cost);
void dt_vm_agg_payer(dt_vm_aggs *as, dt_account *payer); /* whose rows follow; NULL: this machine's */
/* Aggregate into the row of the keys so far. false: no room, a drop. */
bool dt_vm_agg_add(dt_vm_aggs *as, const dt_agg *agg, uint32_t cpu, int64_t value, int64_t incr);
int dt_vm_agg_snapshot(dt_vm_aggs *as, const dt_sink *sink);

/* ---- vm_value.c: the words of a row ---- */
void dt_vm_value_start(const dt_agg *agg, uint64_t *w); /* they are zero */
void dt_vm_value_add(const dt_agg *agg, uint64_t *w, uint32_t nwords, int64_t value, int64_t incr);

/* ---- vm_action.c: one ECB's actions ---- */
struct dt_vm_ecb {
	const dt_ecb *ecb;
	dt_record_plan record;
	enum { DT_VM_OTHER, DT_VM_BEGIN, DT_VM_END, DT_VM_ERROR } probe;
};

/* A firing of some machine. */
struct dt_vm_place {
	uint32_t machine, cpu;
	uint64_t time;
};

typedef struct dt_vm_engine {
	dt_vm vm;
	struct dt_vm_ecb *ecbs;
	uint32_t necbs, max_actions;
	DT_VEC(struct dt_vm_ecb *) front; /* the front's parts of clauses: vm_front.c */
	struct dt_vm_place last; /* where the last of them fired */
	dt_vm_buf principal;
	dt_buffer_plan buffer;
	enum dt_opt_bufpolicy policy;
	dt_vm_aggs *aggs;
	dt_vm_firing firing[2]; /* the probe, and ERROR inside it */
	enum { DT_VM_NEW, DT_VM_ACTIVE, DT_VM_STOPPED } state;
	bool exiting, filled, ending; /* ending: END has begun */
	int exit_status;
	bool destructive;
	uint64_t *drops, *agg_drops; /* per CPU */
	uint32_t ncpus;
	uint64_t dbl_errors;
	uint64_t chill_window, chill_used;
	uint64_t loopmax;
	/* of the clause at hand: */
	uint64_t rounds[DT_LOOPS_MAX]; /* of each loop */
	uint32_t after[DT_BODIES_MAX]; /* the call of each function */
} dt_vm_engine;

enum dt_vm_outcome {
	DT_VM_OK,
	DT_VM_FALSE,   /* the predicate was false, or there was no space */
	DT_VM_FAULTED, /* vm->fault is complete */
};
/* Process the value of an action by its plan; rec is where its datum goes. False: the part is dropped, because another
 * exit() came first. */
bool dt_vm_use_value(dt_vm_engine *e, const struct dt_vm_ecb *x, uint32_t i, uint64_t value, dt_vm_rec *rec);

/* ---- vm_ecb.c ---- */
/* Predicate and actions; parts of the record are added to their buffers. */
enum dt_vm_outcome dt_vm_do_ecb(dt_vm_engine *e, const struct dt_vm_ecb *x);

/* ---- vm.c ---- */
int dt_vm_plan_ecb(dt_vm_engine *e, struct dt_vm_ecb *x, dt_error *err);
/* A probe that the engine does not fire by itself: the clauses on it run now. args: 10; NULL: none. */
void dt_vm_fire_other(dt_vm_engine *e, const dt_probe *probe, const uint64_t *args);
void dt_vm_count_drop(const dt_vm_engine *e, uint64_t *drops); /* of the CPU at hand */
/* The data of a part of a record, by the plan: one for each of its actions. */
void dt_vm_record_values(const struct dt_vm_ecb *x, const dt_record_part *part, const uint8_t *data, dt_datum *values);
/* After a fault of x: its record, and ERROR fires. */
void dt_vm_report_fault(dt_vm_engine *e, const struct dt_vm_ecb *x);
/* Is there room for that many bytes? If not, a drop is counted. */
bool dt_vm_has_room(dt_vm_engine *e, const struct dt_vm_ecb *x, uint64_t cost);
dt_vm_rec *dt_vm_new_record(dt_vm_engine *e, const struct dt_vm_ecb *x, uint32_t cost, uint32_t size);

#endif

/*
 * translate: DIF to eBPF.
 *
 *   learn.c        the first round: what all programs need
 *   tr_program.c   whole programs: claim a slot, run its clauses, faults, release
 *   tr_slot.c      claims and releases a slot
 *   tr_current.c   the current thread
 *   tr_event.c     which probe fired;  tr_prologue.c: what stable probes compute first
 *   tr_return.c    the ret of a user function, carried out
 *   tr_clause.c    a clause: predicate, actions, record;  tr_flow.c: if, loops, switch;
 *                  tr_body.c: functions of D with statements
 *   tr_action.c    data and effects of actions;  tr_agg.c: aggregating actions
 *   tr_buffer.c    records into ring buffers;  tr_tail.c: with the ring policy
 *   difo.c         DIF instructions
 *   tr_register.c  where DIF registers are
 *   tr_value.c     what is known about a DIF register; strings and keys made of it
 *   tr_builtin.c   built-in variables;  tr_arg.c: arguments and registers;  tr_task.c: the process;
 *   tr_stack.c     stacks;  tr_name.c: names of probes
 *   vtime.c        vtimestamp;  lateness.c: how late a clock event is
 *   unwind*.c      user stacks;  left.c: stacks of threads off the CPU
 *   var.c          user variables;  thread.c: where those of a thread are
 *   tr_memory.c    scratch, stores through addresses;  peek.c: loads
 *   absent.c       user memory that is not mapped in yet, from the page cache
 *   call.c         the call instruction: one row per subroutine;  tr_function.c: functions of D
 *   tr_family.c    descendants of processes, with option follow
 *
 * Everything here appends code to dt_tr.c. Inputs (plan, needs, layout, maps) are const; only while
 * learning, needs are added to `learn` and `collect`.
 */
#ifndef DT_BPF_TRANSLATE_TRANSLATE_H
#define DT_BPF_TRANSLATE_TRANSLATE_H

#include "bpf/code/sublang.h"
#include "bpf/plan/layout.h"

/* ---- inputs ---- */

struct dt_cpu_buffer {
	int fd;
	uint32_t first; /* of the CPUs that use it; the next ones use the next buffer */
	uint64_t mask;	/* bytes, minus 1 */
};

/* The maps of one program. */
struct dt_prog_maps {
	int events; /* places in user code: attach_user.c */
	int places; /* many functions of the kernel, by address: attach_kernel.c ... */
	uint64_t places_base;
	uint32_t nplaces; /* ... 0: cookies are used */
	int next;	  /* a program array: the program that continues the firing */
};

/* The maps that code names, by descriptor. */
struct dt_tr_maps {
	int control, cpus, slots, rodata, globals, threads, rings, tails, aggs, specs;
	int wake; /* a ring buffer that wakes the consumer; -1: it needs none */
	int family, left, clock, aside;
	int spare;					   /* of all arrays: var.c */
	int refused;					   /* of all aggregations: tr_agg.c */
	int names, text, epids;				   /* if probes can be added */
	int uw_objects, uw_wanted, uw_banks, uw_first_bank, identify; /* unwind.h */
	const struct dt_cpu_buffer *ring, *tail;	   /* NULL: there are none; tail: by CPU */
	uint32_t nrings;
	const int *var[DT_PLAN_SCOPES], *agg;		   /* arrays and aggregations; NULL: not yet */
	const struct dt_prog_maps *prog;		   /* by program ... */
	uint32_t nprogs;				   /* ... this many; others have none yet */
};
void dt_tr_maps_init(struct dt_tr_maps *m); /* there are none */

/* How kernel memory can be loaded from (peek.c). The kernel may refuse a program because of it. */
struct dt_tr_loads {
	bool casts;  /* any address can be, if the kernel's BTF is open and has what that takes */
	bool trusts; /* typed pointers can be */
	bool loops;  /* not a load: loops can be jumps back, if the kernel has them */
	bool calls; /* the same: functions of D with statements can be functions of the program */
	bool memory_keys; /* the same: functions with map keys in the slot can be verified on their own (Linux 6.2) */
};

struct dt_tr_input {
	const dt_plan *plan;
	const dt_plan_needs *need;
	const struct dt_plan_layout *at;
	const struct dt_tr_maps *maps;
	const struct dt_rodata *ro;
	struct dt_tr_loads loads;
};

/* The needs of program number i are added to *learn and *collect; both NULL: they are known. */
int dt_tr_program(const struct dt_tr_input *in, uint32_t i, dt_plan_needs *learn,
		  struct dt_rodata *collect, dt_code *c, dt_error *err);
/* The first round. Programs that are too large for the kernel are split. */
int dt_learn(dt_plan *p, dt_plan_needs *out, struct dt_rodata *collect, dt_error *err);
/* The same for one more program, with a fixed layout. */
int dt_learn_more(dt_plan *p, uint32_t prog, const struct dt_tr_input *in, dt_plan_needs *out,
		  struct dt_rodata *collect, dt_error *err);

/* ---- what is known about values ---- */

enum dt_tr_vkind {
	V_NUMBER,
	V_CONST,   /* n */
	V_STRING,  /* an address of a string of at most `bound` bytes with NUL; bound 0: strsize */
	V_TEXT,	   /* a constant string at rodata offset n */
	V_COMM,	   /* the execname or threadname in the slot, n bytes from its start */
	V_NAME,	   /* part n (0 provider .. 3 name) of the probe's name */
	V_TRUSTED, /* an address that the kernel can prove: n bytes into what the path leads to, see peek.c */
};
/* A typed pointer and the members of pointer type that were followed from it. */
struct dt_tr_path {
	uint8_t root; /* 0: the thread; 1 + n: argument n of the event */
	uint8_t nhops;
	uint16_t hop[3]; /* offsets */
};
typedef struct dt_tr_val {
	enum dt_tr_vkind kind;
	uint64_t n;
	uint32_t bound;
	struct dt_tr_path path;
} dt_tr_val;
#define NUMBER ((dt_tr_val){.kind = V_NUMBER})

typedef struct dt_tr_state { /* what is known at one place in a DIFO */
	dt_tr_val reg[DT_DIF_NREGS];
	dt_tr_val tuple[DT_DIF_NTREGS];
	struct {
		bool byref;
		uint8_t type;
		dt_tr_val size;
	} push[DT_DIF_NTREGS];
	uint32_t not_stored; /* constants that are not in the slot: 1 << register */
	uint32_t ntuple;
	bool tuple_lost; /* paths with different tuples met: the tuple must not be used before a flush */
} dt_tr_state;

/* ---- a program under construction ---- */

struct dt_tr_function {
	const dt_difo *difo;
	enum dt_probe_kind kind; /* of the clauses that call it */
	uint32_t func;
	bool has_context;
};

struct dt_tr_body { /* one with statements */
	uint32_t body; /* index in the plan */
	enum dt_probe_kind kind;
	uint32_t func;
	uint32_t start, end; /* its instructions */
	uint32_t saves;	     /* as below, when it was made */
};

typedef struct dt_tr {
	const dt_plan *plan;
	const dt_plan_needs *need;
	const struct dt_plan_layout *at;
	const struct dt_tr_maps *maps;
	const struct dt_rodata *ro;
	const struct dt_tr_loads *loads;
	dt_plan_needs *learn;	   /* while learning, or NULL */
	struct dt_rodata *collect; /* the same */
	dt_code *c;
	dt_sub sub;
	struct { /* functions that are emitted at the end; 0: not requested */
		uint32_t count, store[4], copy[2], output, tail, reserve, unreserve, aside, refused, unwind, absent,
		    fragments, symbols, stop, claim;
	} func;
	DT_VEC(struct dt_tr_function) functions; /* of D, that are called ... */
	bool repeats;				 /* ... or not: their code is repeated */
	DT_VEC(struct dt_tr_body) bodies;	 /* the same, with statements ... */
	bool *stays;				 /* ... by their index: it is a part of each clause instead */
	uint32_t *saves;			 /* the same: arguments (1 << n) that its clauses leave in the slot for it */
	/* of the program */
	uint32_t prog; /* its number */
	enum dt_probe_kind prog_kind;
	uint32_t nargs;	   /* tracepoints */
	uint32_t task_arg; /* as in dt_attach */
	uint32_t typed;	   /* bit n: argument n is a typed pointer in its context */
	bool alone;  /* it has one clause, which is a part of the main function */
	bool inside; /* that is being made */
	bool direct;	   /* called by a function of the kernel itself */
	bool in_slot;	   /* arguments are in the slot, made by a prologue; else the event's own */
	bool compat;	   /* system calls: those of 32-bit programs are among them */
	bool iterator_known; /* tr_stack.c */
	uint64_t iterator;
	/* of the clause */
	enum dt_probe_kind kind; /* PK_ERROR inside ERROR clauses, else prog_kind */
	uint32_t clause;	 /* index */
	const struct dt_plan_body *body; /* a function that clauses call; NULL: the clause itself */
	/* Its predicate needs variables of the thread: where to go if there are none (UINT32_MAX: it does not, or they have been
	 * found), and whether the clause has their address on its stack. */
	uint32_t no_thread;
	bool has_thread;
	/* of the DIFO */
	bool function; /* it is that of a function of D */
	dt_tr_state now;
	bool reachable;
	bool in_registers; /* DIF registers are registers of eBPF; otherwise: */
	const uint16_t *live; /* by instruction: which are read from there on; NULL: everything is stored */
	uint32_t pc;	      /* the instruction ... */
	dt_instr instr;
	struct dt_tr_compared {	  /* what the branch after a comparison looks at ... */
		bool with_number; /* ... this, rather than r1 and r2 */
		int reg;
		int32_t n;
	} compared;
	uint32_t fault[DT_FLT_MAX_]; /* label per code; UINT32_MAX: not used */
	uint32_t fault_exit;
	bool faults;   /* there are jumps to it */
	uint32_t loff; /* the offset of the DIF instruction being translated */
	dt_error *err;
	bool failed;
} dt_tr;

void dt_tr_init(dt_tr *t, const struct dt_tr_input *in, dt_code *c, dt_error *err);
void dt_tr_fail(dt_tr *t, const char *fmt, ...) DT_PRINTF(2, 3);
/* The program being made, where its tables are, and its maps; the last two are empty while learning. */
const struct dt_plan_prog *dt_tr_prog(const dt_tr *t);
const struct dt_prog_place *dt_tr_prog_at(const dt_tr *t);
const struct dt_prog_maps *dt_tr_prog_maps(const dt_tr *t);
void dt_tr_map_result(dt_tr *t); /* r0 = the result of a map's function, with its sign */
/* r0 = the entry of an array whose number is in register `at`, and at r10 + key then; goto none: there is none */
void dt_tr_entry(dt_tr *t, int fd, int at, int32_t key, uint32_t none);
/* r0 = row number `at` (a register) of an array of `rows` of `size` bytes; goto none: there is none. Uses r1 and r10 - 4. */
void dt_tr_row(dt_tr *t, int fd, int at, uint64_t rows, uint32_t size, uint32_t none);
/* The code being made needs this (a member of struct dt_need). */
#define dt_tr_needs(t, what) ((t)->learn ? (void)((t)->learn->is.what = true) : (void)0)
/* It reads this word of the slot (a member of struct dt_need_words). */
#define dt_tr_reads(t, what) ((t)->learn ? (void)((t)->learn->reads.what = true) : (void)0)
uint32_t dt_tr_string(dt_tr *t, const char *s); /* its offset in rodata */

/* ---- tr_slot.c ---- */
void dt_tr_cpu(dt_tr *t, uint32_t out); /* r6 = the CPU, r9 = its row; out: it is not traced */
void dt_tr_claim(dt_tr *t, uint32_t out); /* after that. r6 = a slot; out: there is none, which is counted */
void dt_tr_claim_functions(dt_tr *t);
void dt_tr_release(dt_tr *t);
void dt_tr_firing_word(dt_tr *t, int reg); /* = a number that differs from those of other firings on this CPU */
void dt_tr_go_on(dt_tr *t); /* to the program with the next clauses, if there is one */
/* Begins a function that is verified once, however often it is called, and may use the slot without restriction: it looks it up
 * itself. */
void dt_tr_begin_with_slot(dt_tr *t, uint32_t func);

/* ---- tr_prologue.c ---- */
/* In a program: fn[i] are the functions of the plan's prologues, 0 for those it does not use. */
uint32_t *dt_tr_prologue_declare(dt_tr *t);
void dt_tr_prologue_call(dt_tr *t, const uint32_t *fn, uint32_t no);
void dt_tr_prologue_functions(dt_tr *t, const uint32_t *fn);

/* ---- tr_event.c ---- */
/* Programs that find the probe before they claim a slot. r8 = the row of the table or, if there are no masks, the probe;
 * `out`: no probe is enabled for this event. Once there is a slot, what was found is written there. */
bool dt_tr_finds_first(const dt_tr *t);
void dt_tr_find_first(dt_tr *t, uint32_t out);
void dt_tr_found(dt_tr *t);
bool dt_tr_ids(dt_tr *t); /* r0 = process and thread, as get_current_pid_tgid() has them; false: they are not in the slot */
void dt_tr_if_compat(dt_tr *t, uint32_t label); /* in between: goto label if it is a call of a 32-bit program */
/* The others. slot->probe; r8 = the row of the table. `no`: as above. */
void dt_tr_find_probe(dt_tr *t, uint32_t no);
uint32_t dt_tr_only_probe(const dt_tr *t, enum dt_probe_kind kind); /* index of the one of this kind */

/* ---- tr_current.c ---- */
enum { DT_FOUND_TASK = -32 }; /* on the stack, as the other things that are found first */
bool dt_tr_remembers_task(const dt_tr *t); /* the row of the CPU is known, from dt_tr_current() on */
void dt_tr_current(dt_tr *t, uint32_t out); /* r0 = the current thread, typed; out: -x cpu names another CPU */
void dt_tr_found_task(dt_tr *t);	    /* once there is a slot */
bool dt_tr_known_task(dt_tr *t, int to);    /* a register = the current thread as a number; false: the slot does not have it */
bool dt_tr_keeps_task(const dt_tr *t);	   /* ... and it is at DT_FOUND_TASK */
bool dt_tr_kept_task(dt_tr *t);		   /* r0 = the same, inside the clause; false: it is not known there */
void dt_tr_place_task(dt_tr *t, uint32_t from, int at); /* the instructions from there on find it at r10 + at */

/* ---- tr_return.c ---- */
void dt_tr_return_begin(dt_tr *t); /* once there is a slot */
void dt_tr_return_row(dt_tr *t);   /* r8 = the row */
void dt_tr_return_kept(dt_tr *t);  /* r8 = what dt_tr_return() needs of the slot */
void dt_tr_return(dt_tr *t, uint32_t out);

/* ---- difo.c ---- */
/* Run a DIFO: its value is in r0 and described by *out. Control continues after it. */
void dt_tr_difo(dt_tr *t, const dt_difo *d, dt_tr_val *out);
/* Run a DIFO and go to `zero` if its value is 0; true: it can be. Not reachable: it is always 0. */
bool dt_tr_condition(dt_tr *t, const dt_difo *d, uint32_t zero);
/* Jump here on a fault; the offset of the current instruction is recorded. Value: S_FVALUE for
 * BADADDR and BADALIGN, 0 for the others. */
uint32_t dt_tr_fault_label(dt_tr *t, uint32_t code);
void dt_tr_can_fault(dt_tr *t);	  /* to fault_exit, after slot->fault was set */
void dt_tr_fault_paths(dt_tr *t); /* at the end of the function */
void dt_tr_here(dt_tr *t);	  /* a fault from here on happened at t->loff */
/* User memory is about to be read: it belongs to another process if the probe is about another
 * thread. The address is in slot->fvalue. */
void dt_tr_user_memory(dt_tr *t);

/* ---- tr_register.c ---- */
bool dt_tr_in_registers(const dt_tr *t, const dt_difo *d); /* is that safe? */
bool dt_tr_may_fault(const dt_tr *t, const dt_difo *d);
void dt_tr_get(dt_tr *t, int to, uint32_t reg); /* DIF register -> BPF register */
void dt_tr_set(dt_tr *t, uint32_t reg, int from, dt_tr_val v);
void dt_tr_set_const(dt_tr *t, uint32_t reg, uint64_t n);
uint16_t *dt_tr_live(const dt_tr *t, const dt_difo *d);
bool dt_tr_at_hand(const dt_tr *t, uint32_t reg); /* a register of eBPF still has it */
void dt_tr_before_label(dt_tr *t, uint32_t pc);	  /* a jump to this instruction, or the step to it, is next. Uses r3 */

/* ---- tr_value.c ---- */
uint32_t dt_tr_bound(const dt_tr *t, const dt_tr_val *v); /* of a string, <= strsize */
/* Store the string whose address is in r3 (described by v) as `size` bytes at slot + off, cut,
 * padded with zeros when `pad`. BADADDR when it cannot be read. */
void dt_tr_put_string(dt_tr *t, const dt_tr_val *v, uint32_t off, uint32_t size, bool pad);
void dt_tr_zero(dt_tr *t, uint32_t off, uint32_t size); /* of the slot */
/* r0 = comparison of two strings: DIF registers a and b; only equality matters if `equal`. */
void dt_tr_compare(dt_tr *t, uint32_t a, uint32_t b, bool equal);

/* ---- tr_family.c ---- */
#define DT_FAMILY_OURS 0x80000000u /* in a key: a number of our namespace */
/* Goto no unless the process with number r0 is *(u32 *)(r8 + pid_at), or is treated as it. */
void dt_tr_family_check(dt_tr *t, int pid_at, uint32_t no);
/* Two small programs, for sched_process_fork and sched_process_free. */
int dt_tr_family_fork(dt_tr *t);
int dt_tr_family_free(dt_tr *t);

/* ---- tr_name.c ---- */
void dt_tr_name(dt_tr *t, uint32_t part); /* r0 = address of a part of the probe's name */
void dt_tr_probe_id(dt_tr *t);		  /* r0 = its id */
void dt_tr_probe_return(dt_tr *t); /* r0 = the offset in its function that it returns at; 0: unknown */
void dt_tr_epid(dt_tr *t, bool faulting); /* r0 = epid of this clause, or of slot->clause, on the probe */

/* ---- tr_builtin.c, tr_arg.c, tr_task.c, tr_stack.c ---- */
void dt_tr_builtin(dt_tr *t, uint32_t id, uint32_t rd);
void dt_tr_builtin_array(dt_tr *t, uint32_t id, uint32_t index_reg, uint32_t rd);
void dt_tr_time(dt_tr *t); /* r0 = timestamp */

void dt_tr_event_arg(dt_tr *t, uint32_t n);	     /* r0 = the event's own argument */
void dt_tr_arg(dt_tr *t, uint32_t n);		     /* r0 = the probe's: the event's, or made by the prologue */
void dt_tr_save_args(dt_tr *t, uint32_t which);	     /* into the slot; which: 1 << n */
dt_tr_val dt_tr_known_arg(const dt_tr *t, uint32_t n); /* what is known about it */
bool dt_tr_has_regs(const dt_tr *t);		     /* is the context the registers at the probe? */
void dt_tr_register(dt_tr *t, uint64_t n);	     /* r0 = regs[n] */
void dt_tr_user_register(dt_tr *t, uint64_t n);	     /* r0 = uregs[n] */
void dt_tr_error_number(dt_tr *t);		     /* r0 = errno of a system call, on its return */

/* r0 = the thread the probe is about: a number, or a pointer that the kernel trusts. */
void dt_tr_task(dt_tr *t, bool trusted);
void dt_tr_pid_tgid(dt_tr *t);		    /* r0 = tgid << 32 | tid as the user sees them */
void dt_tr_thread_id(dt_tr *t);		    /* the same as the kernel sees them */
void dt_tr_pid_of(dt_tr *t, bool thread);   /* r0 = pid in our namespace of the task in r0; 0: it has none */
int dt_tr_pidns_args(dt_tr *t, uint32_t args); /* of pidof() in lib.c, after the task */
void dt_tr_process_name(dt_tr *t);	    /* make S_COMM hold it: execname */
void dt_tr_thread_name(dt_tr *t);	    /* make S_THREAD hold it */
/* Values that are a walk from the thread along members of structures; false: id is not one of them. */
bool dt_tr_task_value(dt_tr *t, uint32_t id);
void dt_tr_exec_args(dt_tr *t, uint32_t args); /* start and end of execargs' memory, to words of the slot */
void dt_tr_cgroup_name(dt_tr *t);	       /* r0 = address of the name of the cgroup's directory */
void dt_tr_cgroup(dt_tr *t);		       /* r0 = address of the cgroup */
void dt_tr_cgroup_at(dt_tr *t, uint32_t level_at); /* r0 = id of its cgroup at that level */
/* Where "a.b" is in a structure of the kernel. */
bool dt_tr_find_field(const dt_plan *p, const char *type, const char *path, uint32_t *offset);
int dt_tr_field(dt_tr *t, const char *type, const char *path, uint32_t *offset); /* it must be there */

/* r0 = bytes of the stack now at slot + off, or negative */
void dt_tr_read_stack(dt_tr *t, bool user, uint32_t off, uint32_t size);
void dt_tr_stack_depth(dt_tr *t, bool user);
void dt_tr_caller(dt_tr *t, bool user);

/* ---- vtime.c ---- */
void dt_tr_vtimestamp(dt_tr *t);			     /* r0 = vtimestamp */
int dt_tr_vtime_switch(dt_tr *t); /* the small program for sched_switch */

/* ---- unwind.c, unwind_find.c ---- */
/* r0 = bytes of the user stack, innermost frame first, now at slot + off (0: they are only counted);
 * -1: ask bpf_get_stack(). False: no code was emitted, since this kernel lacks the information. */
bool dt_tr_unwind(dt_tr *t, uint32_t off, uint32_t frames);
void dt_tr_unwind_functions(dt_tr *t);
/* The small program that makes the key of a file, with the slot of the map `identify`. */
int dt_tr_identify(dt_tr *t);

/* ---- tr_early.c ---- */
bool dt_tr_needs_thread(const dt_tr *t, const dt_difo *d); /* it begins with a thread-local variable, and is 0 if there are none */
/* goto out if the predicates of all clauses are seen to be 0; r7 is the context. Called before and after the probe is found. */
void dt_tr_leave_early(dt_tr *t, bool found, uint32_t out);

/* ---- left.c ---- */
void dt_tr_left_keep(dt_tr *t); /* saves the stack of the thread that leaves, if it may be needed later */
void dt_tr_left_read(dt_tr *t, uint32_t off, uint32_t size); /* of the next thread */

/* ---- lateness.c ---- */
void dt_tr_lateness(dt_tr *t); /* r0 = arg2 of a clock event */

/* ---- var.c ---- */
/* A variable, from all stages. */
struct dt_tr_var {
	const struct dt_plan_var *v; /* NULL: there is no such variable */
	const struct dt_var_keys *keys;
	const struct dt_var_place *at;
	bool array;
	int fd; /* arrays */
	uint32_t tag;
};
struct dt_tr_var dt_tr_var_find(const dt_tr *t, int scope, uint32_t id);
static inline uint32_t dt_tr_array_tag(int scope, uint32_t id)
{
	return (uint32_t)scope << 16 | id;
}
void dt_tr_var_load(dt_tr *t, int scope, uint32_t id, uint32_t rd);
void dt_tr_var_store(dt_tr *t, int scope, uint32_t id, uint32_t rs);
void dt_tr_array_load(dt_tr *t, int scope, uint32_t id, uint32_t rd);
void dt_tr_array_store(dt_tr *t, int scope, uint32_t id, uint32_t rs);
/* r0 = the element of the array with the key at slot + key, or NULL */
void dt_tr_element(dt_tr *t, const struct dt_tr_var *x, uint32_t key);

/* ---- thread.c ---- */
void dt_thread_value(dt_tr *t, bool make); /* r0 = the object of the thread, or NULL */
void dt_thread_functions(dt_tr *t);
int dt_thread_free_code(dt_tr *t); /* the small program for sched_process_free */

/* ---- peek.c ---- */
struct dt_tr_loads dt_tr_find_loads(const dt_plan *p); /* what this kernel should accept */
void dt_tr_typed_task(dt_tr *t); /* r0 = the thread of dt_tr_task() as a typed pointer, to follow its members */
/* r0 = the number of `size` bytes at the address in r3, or 0 when it cannot be read. */
void dt_tr_peek(dt_tr *t, uint32_t size);
/* The same, if the kernel lets programs load like that; false: nothing was emitted. */
bool dt_tr_direct(dt_tr *t, uint32_t size);
bool dt_tr_can_cast(const dt_tr *t, const char *type);
void dt_tr_cast(dt_tr *t, const char *type); /* r0 = the address in r3 as a pointer to that type, which it may be */
uint32_t dt_tr_tracepoint_id(const dt_plan *p, const char *event); /* in the kernel's BTF; 0: a module's */
/* What a program knows about its arguments: `typed` above. */
uint32_t dt_tr_typed_args(const dt_plan *p, const struct dt_tr_loads *loads, uint32_t prog);
dt_tr_val dt_tr_trusted(const dt_tr *t, uint32_t root); /* or a number */
dt_tr_val dt_tr_sum(const dt_tr_val *a, const dt_tr_val *b); /* what is known about it */
/* How such a load would be emitted. TRUST_MAYBE: r0 is 0 when it cannot be read. TRUST_NO: it cannot be. */
enum dt_tr_trust { TRUST_NO, TRUST_MAYBE, TRUST_YES };
enum dt_tr_trust dt_tr_trust(const dt_tr *t, const dt_tr_val *v, uint32_t size);
void dt_tr_trusted_load(dt_tr *t, const dt_tr_val *v, uint32_t size); /* r0 = number at the address */
dt_tr_val dt_tr_followed(const dt_tr_val *v, uint32_t size); /* what is known about the number */

/* ---- tr_memory.c ---- */
/* r0 = offset in scratch of r1 new bytes, zeroed if asked; NOSCRATCH. */
void dt_tr_alloc(dt_tr *t, bool zero);
void dt_tr_alloc_const(dt_tr *t, uint64_t n, bool zero);
void dt_tr_store(dt_tr *t, uint32_t size, uint32_t value_reg, uint32_t addr_reg);
/* helper(read): r1 to, r2 size, r3 from; r0 = what it returned. Waits for user memory where that is
 * possible. */
void dt_tr_read(dt_tr *t, int read);
void dt_tr_copy(dt_tr *t, uint32_t from_reg, uint32_t size_reg, uint32_t to_reg);
/* The same from tuple values: which hold source, size and target. */
void dt_tr_copy_tuple(dt_tr *t, uint32_t from, uint32_t size, uint32_t to, bool user);
/* Count a loss on this CPU: counter is CPU_*. Clobbers r0-r5. */
void dt_tr_count(dt_tr *t, uint32_t counter);
void dt_tr_memory_functions(dt_tr *t); /* emits what was requested */

/* ---- absent.c ---- */
/* Can this program read user memory that is not mapped in? While learning, requests what that
 * needs. */
bool dt_tr_absent_can(dt_tr *t);
/* r0 = address of a copy in the slot of the r3 bytes (or the string of at most that many) at the
 * user address r2; 0: not in memory, or not an address. */
void dt_tr_absent(dt_tr *t, bool string);
void dt_tr_absent_function(dt_tr *t);
/* Are there pages that the helper cannot read because they were not used for a while? Then r0 = where the kernel has the user
 * byte at the address in register `from`, if it is in such a page. Clobbers S_TMP. */
bool dt_tr_reads_old(const dt_tr *t);
void dt_tr_old_page(dt_tr *t, int from, uint32_t none);
void dt_tr_want_old(dt_tr *t); /* while learning: it will be used */
int dt_tr_peek_code(dt_tr *t); /* the small program of direct_map.c */

/* ---- packet.c ---- */
/* The datum at slot + off: the bytes of the sk_buff at the address in r0. Uses r8, r9. */
void dt_tr_packet_copy(dt_tr *t, uint32_t size); /* r0 = offset in scratch of its first bytes; BADADDR */
void dt_tr_packet(dt_tr *t, uint32_t off, uint32_t size);
void dt_tr_packet_functions(dt_tr *t);

/* ---- tr_lossless.c ---- */
/* r9 = a ring buffer that gets a record next: stop the process if that is filling up; `drop` if it may not be stopped. */
void dt_tr_make_room(dt_tr *t, uint32_t drop);
void dt_tr_lossless_functions(dt_tr *t);

/* ---- tr_shedding.c ---- */
void dt_tr_shed(dt_tr *t, const struct dt_plan_clause *x, uint32_t done); /* `done`: the clause is left out */

/* ---- immstack.c ---- */
void dt_tr_text_stack(dt_tr *t, const dt_action *a, uint32_t off, uint32_t size);
void dt_tr_text_stack_functions(dt_tr *t);

/* ---- translate.c: to call the subroutines of bpf/code/lib.c ---- */
/* Their arguments go to consecutive words of the slot, starting where dt_tr_sub_args() says; after
 * dt_tr_sub_run() r0 is the value, and faults have been handled. */
uint32_t dt_tr_sub_args(dt_tr *t, const char *name);
void dt_tr_sub_run(dt_tr *t, const char *name);

/* ---- call.c ---- */
void dt_tr_subr(dt_tr *t, uint32_t subr, uint32_t rd);

/* ---- tr_function.c ---- */
void dt_tr_function(dt_tr *t, const dt_difo *d, uint32_t n, uint32_t rd); /* call function n of d */
void dt_tr_functions(dt_tr *t);						   /* emits those that are called */
/* The function of the last instructions, which begins at `start`, is verified on its own if it does not
 * need the context of the probe. */
void dt_tr_verify_alone(dt_code *c, uint32_t func, uint32_t start);

/* ---- tr_clause.c ---- */
void dt_tr_clause(dt_tr *t);
void dt_tr_action(dt_tr *t, const struct dt_plan_clause *x, uint32_t i, uint32_t done);
void dt_tr_begin_scratch(dt_tr *t);
void dt_tr_doing(dt_tr *t, int32_t action); /* its number plus 1; 0: the predicate */
void dt_tr_header(dt_tr *t, uint32_t type); /* of the record */
void dt_tr_begin_faults(dt_tr *t); /* of a function: its paths and its exit are its own */

/* Its number in a header: a constant, or that of the clause that has called the function. */
void dt_tr_clause_number(dt_tr *t, int to);

/* ---- tr_flow.c ---- */
/* The actions of a clause with control flow. */
void dt_tr_blocks(dt_tr *t, const struct dt_plan_clause *x, uint32_t done);
/* The same with loops: in a function of its own. */
bool dt_tr_loops(const dt_tr *t, const struct dt_plan_clause *x); /* has it loops, those of functions that it calls not counted? */
enum { CLAUSE_LOOPS = 2 }; /* what the function of such a clause returns: it is to be called */
void dt_tr_loops_begin(dt_tr *t, const struct dt_plan_clause *x);
void dt_tr_loops_call(dt_tr *t, const struct dt_plan_clause *x, uint32_t func);
void dt_tr_loops_function(dt_tr *t, const struct dt_plan_clause *x, uint32_t func);

/* ---- tr_body.c ---- */
/* Functions of D with statements. Emits those that are called. */
void dt_tr_bodies(dt_tr *t);
/* All code is there. True: some functions cannot be called, and stay in their clauses; it must be made again. */
bool dt_tr_bodies_settle(dt_tr *t);

/* ---- tr_action.c, tr_agg.c ---- */
void dt_tr_agg_functions(dt_tr *t);
void dt_tr_datum(dt_tr *t, const dt_action *a, const dt_tr_val *v, uint32_t off,
		 uint32_t size); /* value in r0 to slot + off; not strings */
void dt_tr_append_string(dt_tr *t, const dt_action *a, const struct dt_plan_action *p); /* the one in r0 */
/* The value is in r0; `lost`: where the clause ends without a record, if another exit() came first. */
void dt_tr_effect(dt_tr *t, enum dt_effect what, uint32_t lost);
void dt_tr_speculate(dt_tr *t, uint32_t done);	 /* goto done if there is no such speculation */
void dt_tr_forget_speculation(dt_tr *t);
void dt_tr_agg_key(dt_tr *t, const dt_action *a, const struct dt_plan_action *p,
		   const dt_tr_val *v);
void dt_tr_aggregate(dt_tr *t, const dt_action *a, const struct dt_plan_action *p);

/* ---- tr_buffer.c ---- */
void dt_tr_output(dt_tr *t, uint32_t size);		/* the record; size 0: up to the cursor */
bool dt_tr_output_direct(dt_tr *t, uint32_t size); /* the values, with a head that is made here; false: it cannot be done */
void dt_tr_output_speculative(dt_tr *t, uint32_t size); /* one that goes to the consumer under any policy */
void dt_tr_output_function(dt_tr *t);
void dt_tr_cpu_find(dt_tr *t, uint32_t none); /* r0 = the row of the slot's CPU */
uint64_t dt_tr_ring_size(const dt_tr *t); /* bytes */
void dt_tr_cpu_row(dt_tr *t, uint32_t none);  /* r9 = the same */
/* r1 = the map of CPU r8 */
void dt_tr_map_of_cpu(dt_tr *t, const struct dt_cpu_buffer *of, uint32_t n, int array, uint32_t none);
void dt_tr_wake(dt_tr *t); /* the consumer */
/* Reserve bytes of a small buffer; r0 = 0: not available. */
void dt_tr_reserve(dt_tr *t, uint32_t cost);
void dt_tr_unreserve(dt_tr *t);
void dt_tr_reserve_functions(dt_tr *t);

/* ---- tr_tail.c ---- */
void dt_tr_tail_functions(dt_tr *t);

#endif

/*
 * image: what the files of src/bpf share and nobody else sees.
 *
 * code/       making eBPF
 *   emit.c      instructions, labels, functions
 *   sub.c       a small language for subroutines that loop;  lib.c: the subroutines in it
 *   prog_btf.c  the BTF that the kernel wants with programs and task storage
 * plan/       deciding what there will be
 *   plan.c      ECBs -> clauses, probes, record layouts; what the program needs
 *   prologue.c  what stable probes compute before their clauses run
 *   names.c     what programs know about probes
 *   slot_layout.c  where everything is in the slot and in the maps, once all needs are known
 * translate/  DIF -> eBPF
 *   difo.c      DIF instructions
 *   tr_value.c  what is known about a DIF register; strings and keys made of it
 *   tr_builtin.c  built-in variables;  vtime.c: vtimestamp;  lateness.c: how late a clock event is
 *   unwind*.c   user stacks;  left.c: stacks of threads off the CPU
 *   var.c       user variables;  thread.c: where those of a thread are
 *   tr_memory.c scratch, stores through addresses;  peek.c: loads
 *   call.c      the call instruction: one row per subroutine
 *   tr_action.c actions and records;  tr_agg.c: aggregating actions
 *   prog.c      whole programs: claim a slot, find the probe, run its clauses, faults, release
 * run/        living with the kernel
 *   bpf_maps.c  maps;  buffers.c: those that records go to;  tables.c: unwind tables
 *   load.c      programs into the kernel
 *   attach.c    programs to probes;  attach_user.c: to places in user code;  attach_kernel.c: to
 *               functions of the kernel and to its counters;  family.c: processes that a probe follows
 *   ring.c      records out of the ring buffers;  snapshot.c: aggregations out of their maps
 *   tail.c      the ring policy: only the newest records, in the kernel
 *   extend.c    probes that join while tracing;  gate.c: where processes wait for that
 *   sites.c     static probes: is a trap or a call cheaper?
 *   bpf_engine.c  the engine interface
 *
 * Code is made twice. The first time nothing is known about sizes and offsets: it is made to learn
 * what it needs (strings, keys, variables, scratch) and thrown away. Then the layout is fixed, the
 * maps are created, and the same functions make the code that is loaded.
 *
 * See doc/kernel-engine.md for the way a firing goes.
 */
#ifndef DT_BPF_IMAGE_H
#define DT_BPF_IMAGE_H

#include "bpf/code/emit.h"
#include "bpf/uapi.h"
#include "engine/engine.h"
#include "engine/record_plan.h"

/* Firings that can be under way on one CPU at most. Interrupts nest three deep, but tasks can be
 * preempted in the middle of a system call probe, each keeping its slot until it runs again. */
#define DT_BPF_SLOTS 32

#define DT_BPF_RING_TREE 16 /* up to so many CPUs the ring buffer is found by comparisons */

#define DT_BPF_COMERS 16 /* a power of two */

/* ---- control: one value, mapped into this process ---- */
enum {
	CTL_WORD = 0,	 /* bit 0: aggregation generation; the others say which probes may fire */
	CTL_EXITING = 8, /* exit() was called ... */
	CTL_STATUS = 16, /* ... with this */
	CTL_FILLED = 24, /* fill policy: a buffer is full */
	CTL_WALL = 32,	 /* walltimestamp - timestamp */
	CTL_RAND = 40,
	CTL_SPEC = 48, /* speculations handed out so far: where to look for a free one */
	CTL_WOKEN = 56, /* a buffer is filling and the consumer has been told */
	CTL_ARRIVED = 64,  /* processes that have come to a gate (gate.c) ... */
	CTL_ADMITTED = 72, /* ... and those of them that may go on */
	CTL_CLAIMS = 80, /* 256 words: the last key that was claimed in each */
	CTL_COMERS = CTL_CLAIMS + 256 * 8, /* pids of the latest to come to a gate, u32 each, by number */
	CTL_TICKETS = CTL_COMERS + DT_BPF_COMERS * 4, /* numbers drawn; arrived when the pid is written, too */
	CTL_ASIDE = CTL_TICKETS + 8, /* threads whose variables are not in task storage: thread.c */
	CTL_SIZE = CTL_ASIDE + 8,
};
enum { CTL_GEN = 1, CTL_ACTIVE = 2 };

/* ---- one per CPU, mapped into this process ---- */
enum {
	CPU_DROPS = 0,
	CPU_AGG_DROPS = CPU_DROPS + 8,
	CPU_DYN_DROPS = CPU_DROPS + 16,
	CPU_SPEC_DROPS = CPU_DROPS + 24,
	CPU_SPEC_UNAVAIL = CPU_DROPS + 32,
	CPU_DBL_ERRORS = CPU_DROPS + 40,
	CPU_CHILL_WINDOW = CPU_DROPS + 48,
	CPU_CHILL_USED = CPU_DROPS + 56,
	CPU_USED = CPU_DROPS + 64, /* bytes of a small buffer in use */
	CPU_VCLOCK = CPU_DROPS + 72, /* timestamp - the scheduler's clock; 0: not known */
	CPU_HEAD = CPU_DROPS + 80, /* ring policy, see tail.c: where the newest record is ... */
	CPU_SAFE = CPU_DROPS + 88, /* ... how far down nobody is writing ... */
	CPU_MASK = CPU_DROPS + 96, /* ... bytes of the circle, minus 1 */
	CPU_BUSY = 128,		   /* a word for each slot, 1 while a firing owns it */
	CPU_WRITING = CPU_BUSY + DT_BPF_SLOTS * 8, /* two for each slot: where its record goes, and bytes of it */
	CPU_SIZE = CPU_WRITING + DT_BPF_SLOTS * 16,
};

/* ---- one per CPU and clock event: see lateness.c ---- */
enum { CLOCK_PERIOD = 0, CLOCK_DUE = 8, CLOCK_LAST = 16, CLOCK_SIZE = 24 };

/* ---- the slot: fields at fixed places, then areas placed by slot_layout.c ---- */
enum {
	S_CPU = 0,	/* u32 */
	S_INDEX = 4,	/* u32: cpu * nslots + which */
	S_PROBE = 8,	/* u32: index into e->probes */
	S_CLAUSE = 12,	/* u32: index into e->clauses */
	S_TIME = 16,	/* timestamp; 0: not read yet */
	S_GEN = 24,	/* u32 */
	S_FLAGS = 28,	/* u32: SF_* */
	S_FAULT = 32,	/* u32: code + 1; 0: none */
	S_FACTION = 36, /* u32 */
	S_FOFFSET = 40, /* s32 */
	S_SPEC = 44,	/* u32: id of the speculation the record goes to */
	S_FVALUE = 48,
	S_CURSOR = 56,	 /* u32: end of the record so far */
	S_RESERVED = 60, /* u32: bytes of a small buffer set aside for the record */
	S_USED = 64,	 /* bytes of scratch in use */
	S_CMP_A = 72,	 /* operands of the last cmp */
	S_CMP_B = 80,
	S_VALUE = 88, /* argument of an aggregating action, and its increment */
	S_INCR = 96,
	S_SELF = 104,	 /* an address on its way to becoming a number */
	S_TMP = 112,	 /* 16 bytes: what a load reads into */
	S_REGS = 128,	 /* 8 DIF registers */
	S_TUPLE = 192,	 /* 8 tuple registers */
	S_EARGS = 256,	 /* 6 arguments of ERROR */
	S_COMM = 304,	 /* execname */
	S_PTREGS = 320,	 /* 168 bytes: registers of the system call; without BTF */
	S_NUMBER = S_PTREGS, /* places in user code: dt_attach's number */
	S_TOKLIVE = 488, /* strtok() has text left */
	S_DIGITS = 496,	 /* 128 bytes: numbers and addresses as text */
	S_SPECSEQ = 624, /* u32: which use of the speculation id */
	S_BUCKET = 632,
	S_ARRAY = 628,	/* u32: which array last_key belongs to: scope << 16 | id; 0: none */
	S_PARGS = 640,	/* 10 arguments of the probe, made by its prologue */
	S_PUSED = 720,	/* bytes of scratch that hold arguments (strings) */
	S_TOKLEN = 728, /* the length of strtok()'s text, and where it goes on */
	S_TOKAT = 736,
	S_PART = 744,	/* the firing whose next clauses are in a program of their own, see prog.c */
	S_THREAD = 752, /* threadname */
	S_LOCALS = 768, /* variables of subroutines; where those of one are differs from program to program */
	S_LOCALS_MAX = 48 * 24, /* 48 subroutines (lib.c has fewer) with 24 variables each */
	S_UNWIND = S_LOCALS + S_LOCALS_MAX * 8, /* state of the walker of user stacks, see unwind.c */
	DT_BPF_UNWIND_SIZE = 1584,
	S_AREAS = S_UNWIND + DT_BPF_UNWIND_SIZE,
};
/* COMPAT: a system call of a 32-bit program; the others: this part of the slot is filled in */
enum { SF_ARGS = 1, SF_COMM = 2, SF_COMPAT = 4, SF_THREAD = 8 };

/* Where the areas are; offsets from the start of the slot. */
struct dt_plan_layout {
	uint32_t key, dkey;  /* keys under construction: aggregations, associative arrays */
	uint32_t last_key;   /* of the object among array elements that was read last */
	uint32_t local_vars; /* clause-local variables */
	uint32_t local_refs, local_refs_size; /* their by-reference part */
	uint32_t record, record_size;
	uint32_t buf[4], buf_size;	/* A, B, O, T of the subroutine language */
	uint32_t stack;			/* frames of stackdepth and friends */
	uint32_t scratch, scratch_size; /* twice scratch_size is there, see tr_memory.c */
	uint32_t slot_size, nslots;	/* nslots: a power of two */
	/* in rodata */
	uint32_t zeros, zeros_size, names, epids, table_end;
};

/* rodata's row for a probe: u32 offsets of its four names, then its id, then where the function returns. */
#define NAME_ROW	32
#define NAME_ROW_SHIFT	5
#define NAME_ROW_ID	16
#define NAME_ROW_RETURN 20

/* ---- records in the ring buffers ---- */
struct dt_rec {
	uint32_t clause; /* index; REC_FAULT ... in type */
	uint32_t probe;
	uint64_t time;
	uint32_t spec; /* speculation: id | use << 16; 0: none */
	uint32_t type;
};
enum { REC_DATA, REC_FAULT, REC_COMMIT, REC_DISCARD };
#define REC_HEADER ((uint32_t)sizeof(struct dt_rec))
struct dt_fault_rec {
	struct dt_rec head;
	uint32_t action;
	int32_t offset;
	uint32_t code, pad;
	uint64_t value;
};

/* ---- probes and clauses ---- */
enum dt_probe_kind { /* shorter names; those up to PK_ERROR are of the tracer itself */
	PK_BEGIN = DT_AT_BEGIN,
	PK_END = DT_AT_END,
	PK_ERROR = DT_AT_ERROR,
	PK_ENTRY = DT_AT_SYSCALL_ENTRY,
	PK_RETURN = DT_AT_SYSCALL_RETURN,
	PK_PROFILE = DT_AT_CLOCK,
	PK_TRACEPOINT = DT_AT_TRACEPOINT,
	PK_FUNC_ENTRY = DT_AT_FUNC_ENTRY,
	PK_FUNC_RETURN = DT_AT_FUNC_RETURN,
	PK_INSTRUCTION = DT_AT_INSTRUCTION,
	PK_UPROBE = DT_AT_UPROBE,
	PK_URETPROBE = DT_AT_URETPROBE,
	PK_PERF = DT_AT_PERF,
	PK_MAX = DT_AT_MAX
};

/* How a program is called by kernel functions (attach_kernel.c): a part of the group. */
enum dt_plan_how { HOW_KPROBE, HOW_MULTI, HOW_FENTRY };
#define HOW_SHIFT  28
#define HOW(group) ((enum dt_plan_how)((group) >> HOW_SHIFT & 3))
struct dt_function_link {
	int fd;
	enum dt_probe_kind kind;
	enum dt_plan_how how;
};

struct dt_plan_probe {
	const dt_probe *probe;
	enum dt_probe_kind kind;
	uint32_t event; /* system call number, or index among the probes of its kind */
	uint32_t group; /* probes of one kind and group can share a program */
	uint32_t nargs; /* tracepoints */
	uint32_t prologue; /* index into e->prologues, plus 1; 0: the event's own arguments */
	bool more;	   /* the next one is the same probe at another event */
	dt_attach at;
};

struct dt_plan_agg;
struct dt_plan_action { /* beside each dt_action */
	const struct dt_action_plan *what; /* its role, the same in both engines */
	uint32_t offset;		   /* DATA: in the record; strings: where the u32 offset of the text is */
	struct dt_plan_agg *agg;	   /* KEY and AGG */
};

struct dt_plan_clause {
	dt_clause *c;
	dt_record_plan record; /* what is in it and what it costs */
	struct dt_plan_action *plan; /* where we put that */
	const dt_ecb **ecbs; /* by probe index; NULL: not enabled there. On the heap, e->ecb_room of them */
	uint32_t grow_kinds; /* 1 << enum dt_probe_kind: of these it may get more while tracing */
	uint32_t fixed;	     /* bytes of the record before the strings */
	uint32_t size;	     /* the largest it can be; 0: records nothing */
	bool has_strings;
	uint32_t kinds; /* 1 << enum dt_probe_kind */
};

/* ---- user variables ---- */
struct dt_plan_key { /* layout of one part of a key */
	uint32_t offset, size;
	bool is_string;
};
struct dt_plan_var {
	bool seen, byref, user, string, array;
	uint32_t size;	 /* by reference: bytes of the object */
	uint32_t offset; /* in its storage; by reference: of the 8-byte prefix */
	/* arrays */
	uint32_t nkeys;
	struct dt_plan_key keys[DT_DIF_NTREGS + 1]; /* thread arrays: the thread first */
	uint32_t key_size;
	int fd;
	uint64_t entries;
};
struct dt_plan_scope {
	struct dt_plan_var *v; /* index: id - DT_VAR_USER_MIN */
	uint32_t n;
	uint32_t size; /* bytes of storage of the scalars */
	uint32_t refs; /* where the by-reference ones begin */
};

/* ---- aggregations ---- */
struct dt_plan_agg {
	const dt_agg *agg;
	uint32_t nkeys;
	struct dt_plan_aggkey {
		const dt_action *action;
		uint32_t offset, size;
		bool is_string;
		int name; /* 0..3: a part of the probe's name, kept as its index; -1: not */
	} * keys;
	uint32_t key_size; /* with the generation before; 0: no keys */
	uint32_t nwords;
	uint64_t rows;	 /* that the map can hold */
	bool pool;	 /* they are allocated when they are made */
	uint32_t offset; /* no keys: in the value of the shared per-CPU array */
	int fd;
};

/* ---- programs ---- */
struct dt_plan_prog {
	enum dt_probe_kind kind;
	uint32_t *clauses; /* indices, in order */
	uint32_t nclauses;
	uint32_t table;		 /* in rodata: event -> { probe + 1, clause masks } */
	uint32_t nevents, masks; /* masks: words per event; 0: every clause on every event */
	/* places in user code: a table of its own, see attach_user.c */
	int fd_table;
	uint8_t *rows; /* mapped */
	uint32_t row_size;
	/* many functions of the kernel: which probe an address belongs to, see attach_kernel.c */
	int fd_places;
	uint64_t places_base;
	uint32_t nplaces;  /* 0: cookies tell */
	bool rest;	   /* of one that was too large, which is before it */
	int fd_next;	   /* a program array: the one that goes on with the firing, see dt_plan_continues() */
	bool lazy;	   /* for probes that may join: not loaded until the first one does */
	bool loading;	   /* extend.c */
	uint32_t nprobes; /* that there were when its code was made */
	uint32_t group;		 /* for probes of this group ... */
	uint32_t only;		 /* ... or only this probe (index); UINT32_MAX: any */
	uint32_t nargs;		 /* tracepoints: how many arguments each of them has at least */
	uint32_t task_arg;	 /* as in dt_attach: it has one probe then */
	uint32_t typed;		 /* bit n: argument n is a typed pointer in its context */
	bool prologues;		 /* its probes have them: arguments are in the slot */
	uint32_t *used;		 /* bit n: some clause looks at argument n */
	uint32_t prologue_of;	 /* in rodata, u32 by probe: index into e->prologues */
	int fd;
};

/* ---- one CPU's ring buffer ---- */
struct dt_ring {
	int fd;
	uint64_t *consumer, *producer;
	uint8_t *data;
	uint64_t mask;
	uint64_t length; /* mapped, of a circle (tail.c) */
};

/* What programs know of probes when more can join: names.c */
struct dt_names {
	int fd_rows, fd_text, fd_epids;
	uint32_t *rows, room; /* mapped */
	char *text;	      /* mapped */
	uint32_t used;
	dt_map *pool; /* text -> where it is */
};

struct dt_ring_specs; /* ring.c, as is kept_list */
struct kept_list;

struct dt_engine {
	dt_options *opts;
	dt_types *types;
	dt_kfuncs *kfuncs;
	dt_arena *arena;
	const dt_ecb *ecbs;
	uint32_t necbs;
	dt_map *seen;  /* id of a probe -> its index plus 1 */
	bool grows;    /* probes can join while tracing */
	uint32_t ecb_room, next_group;
	struct dt_names names;
	uint64_t strsize;
	uint32_t ncpus;
	bool has_btf, has_compat; /* compat: 32-bit programs can run */
	bool has_third_abi; /* dt_arch.entry.number_bit */
	bool has_uprobe_multi, has_kprobe_multi;
	bool follows; /* option follow: family.c */
	bool has_storage; /* task storage is found whatever the CPU is doing: thread.c */
	bool has_cookies; /* raw tracepoints can be told apart by cookie (Linux 6.10) */
	uint64_t pidns_dev, pidns_ino; /* 0: the initial pid namespace */
	/* plan */
	DT_VEC(struct dt_plan_probe) probes;
	DT_VEC(dt_prologue) prologues;
	uint32_t nevents[PK_MAX]; /* probes of each kind; system calls have their numbers instead */
	DT_VEC(struct dt_plan_clause) clauses;
	DT_VEC(struct dt_plan_agg *) aggs;
	uint32_t max_actions;
	struct dt_plan_scope globals, threads, locals;
	struct {
		bool task_storage, scratch, memory, strings, epid, names, error, spec, stack,
		    waiting /* for user memory */, vtime, element, late, returns;
		uint32_t agg_key, dyn_key, zeros;
		uint32_t left; /* bytes of frames to keep of a thread that leaves: left.c */
		uint64_t alloc; /* largest constant size asked for */
	} need;
	dt_map *string_pool; /* text -> offset + 1 */
	dt_buf rodata;
	struct dt_plan_layout at;
	bool learning; /* the first of the two rounds */
	/* kernel objects */
	int fd_control, fd_cpus, fd_slots, fd_rodata, fd_globals, fd_threads, fd_rings, fd_tails, fd_aggs,
	    fd_specs, fd_btf,
	    fd_wake; /* a ring buffer that wakes the consumer when tracing is over; -1: needs none */
	uint32_t btf_u32, btf_thread;
	uint32_t cast_func, cast_type; /* ids in the kernel's BTF, see peek.c; 0: not known */
	bool trusts;		       /* typed pointers can be loaded from: peek.c */
	DT_VEC(int) fds; /* all of the above and those of variables and aggregations, to close */
	DT_VEC(struct dt_plan_prog) progs;
	DT_VEC(int) links;
	DT_VEC(struct dt_function_link) function_links; /* of these, those that count what they miss */
	uint64_t function_misses;
	DT_VEC(struct dt_user_link { int fd; long pid; }) user_links; /* pid 0: of all processes */
	struct dt_retired *retired; /* extend.c */
	uint32_t refused;		 /* places in user code that the kernel does not take */
	uint32_t left_out;		 /* the same of functions and instructions of the kernel ... */
	const char *left_out_first;	 /* ... and what is said about the first of them */
	uint8_t *control, *cpus; /* mapped */
	uint64_t cpus_size;
	struct dt_ring *rings; /* NULL: there are none, as long as no speculation needs them with the ring policy */
	struct dt_ring *tails; /* ring policy: circles, see tail.c */
	uint64_t tail_size;
	bool delivered; /* what was in them */
	uint32_t tail_piece, tail_value;
	uint64_t *wake, *woken; /* consumer's and producer's position of fd_wake, mapped */
	struct dt_procs *procs; /* of the session; NULL: none */
	struct dt_uw *unwind; /* NULL: no program walks user stacks */
	bool no_unwind;	       /* this kernel's structures are not as we know them */
	int fd_gate, fd_family;
	enum { SITES_UNKNOWN, SITES_TRAP, SITES_CALL } sites_by;
	int fd_vtime;	       /* the program at sched_switch */
	int fd_aside;	       /* a table beside task storage: thread.c */
	uint32_t aside_bits;   /* it has 1 << so many entries */
	int fd_left;	       /* stacks of threads that have left */
	int fd_clock;	       /* a row for each program and clock event */
	uint32_t vtime_start;  /* offset of task_struct.se.exec_start */
	uint32_t preallocated; /* bytes, in maps of variables and aggregations */
	uint32_t agg_size; /* bytes of the shared per-CPU array's value */
	uint32_t nspecs;
	struct dt_ring_specs *spec_bufs;
	struct kept_list *kept; /* ring policy: committed records, until the end */
	/* running */
	enum { BPF_NEW, BPF_RUNNING, BPF_STOPPED } state;
	uint32_t begin_cpu;
	enum dt_opt_bufpolicy policy;
	uint64_t bufsize, end_reserve; /* end_reserve: fill policy */
	bool small;		       /* bufsize is kept to the byte: see tr_action.c */
	uint64_t *drops, *agg_drops;   /* per CPU, for status */
	uint64_t spec_drops;
	bool drained; /* the aggregations have been read after tracing ended */
};

/* ---- plan.c ---- */
int dt_plan_make(dt_engine *e, const struct dt_engine_env *env, dt_error *err);
bool dt_plan_continues(const struct dt_plan_prog *p);			    /* a firing that the program before it began */
bool dt_plan_is_continued(const dt_engine *e, const struct dt_plan_prog *p); /* by the next one */
struct dt_plan_prog *dt_plan_nth_to_attach(const dt_engine *e, uint32_t n);
bool dt_plan_has_rest(const dt_engine *e, const struct dt_plan_prog *p);	    /* called by it or not */
/* If the program is more than the kernel takes, or takes in good time, halve it and say so. */
bool dt_plan_split(dt_engine *e, uint32_t prog, const dt_code *c);
/* Is this probe served by the program? */
bool dt_plan_serves(const dt_engine *e, const struct dt_plan_prog *p, uint32_t probe);
struct dt_plan_agg *dt_plan_agg_find(dt_engine *e, const dt_agg *agg);

/* ---- attach_kernel.c ---- */
struct bpf_prog_load_opts;
bool dt_plan_is_function(enum dt_probe_kind kind);
/* Is it called by the function itself (fentry, fexit)? It has one probe then, and no registers. */
static inline bool dt_plan_is_direct(const struct dt_plan_prog *p)
{
	return dt_plan_is_function(p->kind) && HOW(p->group) == HOW_FENTRY;
}
int dt_plan_functions(dt_engine *e, dt_error *err); /* how each function is traced */
/* What the kernel must know of the program; returns a descriptor to close afterwards if it is above 0. */
int dt_attach_function_load(dt_engine *e, const struct dt_plan_prog *p, enum bpf_prog_type *type, struct bpf_prog_load_opts *o);
int dt_attach_function_places(dt_engine *e, struct dt_plan_prog *p, dt_error *err); /* the table of a program on many */
#define DT_BPF_PLACE_SHIFT 4 /* its words are so many bits of an address apart */
int dt_attach_functions(dt_engine *e, struct dt_plan_prog *p, dt_error *err);
int dt_attach_counters(dt_engine *e, const struct dt_plan_prog *p, dt_error *err);
uint64_t dt_attach_function_misses(const dt_engine *e);
void dt_attach_functions_end(dt_engine *e); /* before they are closed */

/* ---- prologue.c ---- */
/* Its index in e->prologues, plus 1; probes of equal DIF share one. */
uint32_t dt_plan_prologue_add(dt_engine *e, const dt_prologue *p);
void dt_layout_prologues(dt_engine *e, struct dt_plan_prog *p); /* its table, in rodata */

/* The index of the ECB's probe (of the first of its events), entered at first sight. */
uint32_t dt_plan_probe_index(dt_engine *e, const dt_ecb *ecb);
void dt_plan_set_ecb(dt_engine *e, uint32_t clause, uint32_t probe, const dt_ecb *ecb); /* at all its events */
void dt_plan_ecb_room(dt_engine *e);
/* Programs for the probes like this one; only for it if `alone`. */
void dt_plan_add_programs(dt_engine *e, uint32_t probe, bool alone);

/* ---- extend.c ---- */
int dt_extend(dt_engine *e, dt_ecb *ecbs, uint32_t n, dt_error *err);
void dt_extend_retire(dt_engine *e, long pid);
/* Static probes that can be both: is a call into the kernel cheaper than a trap? (sites.c) */
bool dt_sites_by_call(dt_engine *e);
void dt_attach_user_end(dt_engine *e); /* all become links like others */

/* ---- family.c ---- */
int dt_family_make(dt_engine *e, dt_error *err);
int dt_family_attach(dt_engine *e, dt_error *err);
void dt_family_root(dt_engine *e, uint32_t pid);
void dt_family_adopt(dt_engine *e, long pid, long parent);
void dt_family_disown(dt_engine *e, long pid);

/* ---- gate.c: see the engine's interface ---- */
int dt_gate(dt_engine *e, const char *path, uint64_t offset, long pid, dt_error *err);
uint64_t dt_gate_arrived(const dt_engine *e);
long dt_gate_comer(const dt_engine *e, uint64_t n);
void dt_gate_admit(dt_engine *e, uint64_t n);

/* ---- slot_layout.c ---- */
int dt_layout_make(dt_engine *e, dt_error *err);
void dt_layout_program(dt_engine *e, struct dt_plan_prog *p); /* its tables */
/* Offset in rodata of a NUL-terminated string. */
uint32_t dt_layout_string(dt_engine *e, const char *s);
struct dt_plan_var *dt_plan_var_find(dt_engine *e, int scope, uint32_t id);

/* ---- translating: one function of a program ---- */
enum dt_tr_vkind {
	V_NUMBER,
	V_CONST,  /* n */
	V_STRING, /* an address of a string of at most `bound` bytes with NUL; bound 0: strsize */
	V_TEXT,	  /* a constant string at rodata offset n */
	V_COMM,	  /* the execname or threadname in the slot, n bytes from its start */
	V_NAME,	  /* part n (0 provider .. 3 name) of the probe's name */
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

typedef struct dt_tr_state { /* what is known at one place in a DIFO */
	dt_tr_val reg[DT_DIF_NREGS];
	dt_tr_val tuple[DT_DIF_NTREGS];
	struct {
		bool byref;
		uint8_t type;
		dt_tr_val size;
	} push[DT_DIF_NTREGS];
	uint32_t ntuple;
	bool tuple_lost; /* paths with different tuples met: nobody may use it before a flush */
} dt_tr_state;

struct dt_sub_fn {
	char name[24];
	const char *source;
	uint32_t func;
	uint32_t locals; /* its first variable */
};
typedef struct dt_sub_lib { /* subroutines already in this program */
	DT_VEC(struct dt_sub_fn) fns;
	uint32_t nlocals;
	uint32_t count, store[4], copy[2], output, tail, reserve, unreserve, aside,
	    unwind; /* other functions; 0: not asked for */
} dt_sub_lib;

typedef struct dt_tr {
	dt_engine *e;
	dt_code *c;
	dt_sub_lib *lib;
	enum dt_probe_kind kind;
	enum dt_probe_kind prog_kind; /* kind is PK_ERROR inside ERROR clauses, this never */
	uint32_t nargs;		    /* tracepoints */
	uint32_t task_arg;	    /* of the program */
	uint32_t typed;
	bool direct;		    /* called by a function of the kernel itself */
	uint32_t *used;		    /* arguments are in the slot, this says which are wanted; NULL: the event's own */
	uint32_t clock_row;	    /* first row of the program in fd_clock */
	bool compat;		    /* system calls: those of 32-bit programs are among them */
	uint32_t clause;	    /* index */
	dt_tr_state now;
	bool reachable;
	uint32_t fault[DT_FLT_BADSTACK + 1]; /* label per code; UINT32_MAX: not used */
	uint32_t fault_exit;
	bool faults;   /* somebody jumps to it */
	uint32_t loff; /* the offset of the DIF instruction being translated */
	dt_error *err;
	bool failed;
} dt_tr;

void dt_tr_fail(dt_tr *t, const char *fmt, ...) DT_PRINTF(2, 3);

/* ---- prologue.c ---- */
/* In a program: fn[i] are the functions of e->prologues, 0 for those it has no use for. */
uint32_t *dt_tr_prologue_declare(dt_tr *t, const struct dt_plan_prog *p);
void dt_tr_prologue_call(dt_tr *t, const struct dt_plan_prog *p, const uint32_t *fn, uint32_t no);
void dt_tr_prologue_functions(dt_tr *t, const struct dt_plan_prog *p, const uint32_t *fn);

/* ---- difo.c ---- */
/* Run a DIFO: its value is in r0 and described by *out. Control goes on behind it. */
void dt_tr_difo(dt_tr *t, const dt_difo *d, dt_tr_val *out);
void dt_tr_get(dt_tr *t, int to, uint32_t reg); /* DIF register -> BPF register */
void dt_tr_set(dt_tr *t, uint32_t reg, int from, dt_tr_val v);
/* Jump here on a fault; the offset of the current instruction is recorded. Value: S_FVALUE for
 * BADADDR and BADALIGN, 0 for the others. */
uint32_t dt_tr_fault_label(dt_tr *t, uint32_t code);
void dt_tr_fault_paths(dt_tr *t); /* at the end of the function */
void dt_tr_here(dt_tr *t);	       /* a fault from here on happened at t->loff */
/* User memory is about to be read: it is another process's when the probe is about another thread. The address
 * is in slot->fvalue. */
void dt_tr_user_memory(dt_tr *t);
#define NUMBER ((dt_tr_val){.kind = V_NUMBER})

/* ---- tr_value.c ---- */
uint32_t dt_tr_bound(const dt_tr *t, const dt_tr_val *v); /* of a string, <= strsize */
/* Store the string whose address is in r3 (described by v) as `size` bytes at slot + off, cut,
 * padded with zeros when `pad`. BADADDR when it cannot be read. */
void dt_tr_put_string(dt_tr *t, const dt_tr_val *v, uint32_t off, uint32_t size, bool pad);
void dt_tr_zero(dt_tr *t, uint32_t off, uint32_t size); /* of the slot */
void dt_slot_lea(dt_code *c, int dst, uint32_t off);	     /* dst = slot + off */
void dt_slot_st(dt_code *c, uint32_t size, uint32_t off, int src);
/* r0 = comparison of two strings: DIF registers a and b; only equality matters if `equal`. */
void dt_tr_compare(dt_tr *t, uint32_t a, uint32_t b, bool equal);

/* Goto no unless the process with number r0 is *(u32 *)(r8 + pid_at), or is to be taken for it: family.c */
void dt_tr_family_check(dt_tr *t, int pid_at, uint32_t no);

/* ---- names.c ---- */
void dt_names_place(dt_engine *e);				      /* in rodata, if all are known */
int dt_names_make(dt_engine *e, dt_error *err);		      /* maps, if more can join */
int dt_names_add(dt_engine *e, uint32_t first, dt_error *err); /* from this probe on */
void dt_names_free(dt_engine *e);
uint32_t dt_names_bound(const dt_engine *e, uint32_t part); /* the longest, with NUL */
void dt_tr_name(dt_tr *t, uint32_t part); /* r0 = address of a part of the probe's name */
void dt_tr_probe_id(dt_tr *t);	       /* r0 = its id */
void dt_tr_probe_return(dt_tr *t);	       /* r0 = the offset in its function that it returns at; 0: unknown */
void dt_tr_epid(dt_tr *t, bool faulting); /* r0 = epid of this clause, or of slot->clause, on the probe */

/* ---- tr_builtin.c ---- */
void dt_tr_builtin(dt_tr *t, uint32_t id, uint32_t rd);
void dt_tr_builtin_array(dt_tr *t, uint32_t id, uint32_t index_reg, uint32_t rd);
int dt_tr_stack_flags(const dt_tr *t, bool user); /* of get_stack */
/* r0 = bytes of the stack now at slot + off, or negative */
void dt_tr_read_stack(dt_tr *t, bool user, uint32_t off, uint32_t size);
void dt_tr_time(dt_tr *t);			       /* r0 = timestamp */
/* r0 = the thread the probe is about: a number, or a pointer that the kernel trusts. */
void dt_tr_task(dt_tr *t, bool trusted);
void dt_tr_event_arg(dt_tr *t, uint32_t n); /* r0 = the event's own argument */
void dt_tr_pid_tgid(dt_tr *t); /* r0 = tgid << 32 | tid as the user sees them */
void dt_tr_thread_id(dt_tr *t); /* the same as the kernel sees them */
void dt_tr_pid_of(dt_tr *t, bool thread); /* r0 = pid in our namespace of the task in r0; 0: it has none */
int dt_tr_pidns_args(dt_tr *t, uint32_t args);
/* Where "a.b" is in a structure of the kernel. */
bool dt_tr_find_field(const dt_engine *e, const char *type, const char *path, uint32_t *offset);
int dt_tr_field(dt_tr *t, const char *type, const char *path, uint32_t *offset); /* it must be there */

/* ---- vtime.c ---- */
void dt_tr_vtimestamp(dt_tr *t); /* r0 = vtimestamp */
int dt_vtime_load(dt_engine *e, dt_error *err);

/* ---- unwind.c ---- */
/* r0 = bytes of the user stack, innermost frame first, now at slot + off; -1: ask bpf_get_stack(). False: no code
 * was made, this kernel does not tell what we need. */
bool dt_tr_unwind(dt_tr *t, uint32_t off, uint32_t frames);
void dt_tr_unwind_functions(dt_tr *t);
int dt_tr_identify_code(dt_engine *e, int fd_slot, dt_code *c, dt_error *err);

/* ---- left.c ---- */
void dt_tr_left_keep(dt_tr *t); /* the stack of the thread that leaves, if it is wanted when it comes back */
void dt_tr_left_read(dt_tr *t, uint32_t off, uint32_t size); /* of the one that comes */

/* ---- tables.c ---- */
int dt_tables_create(dt_engine *e, dt_error *err);
void dt_tables_feed(dt_engine *e); /* make the tables that walks have missed */
void dt_tables_preload(dt_engine *e);
void dt_tables_free(dt_engine *e);

/* ---- lateness.c ---- */
void dt_tr_lateness(dt_tr *t); /* r0 = arg2 of a clock event */

/* ---- var.c ---- */
static inline uint32_t dt_tr_array_tag(int scope, uint32_t id)
{
	return (uint32_t)scope << 16 | id;
}
void dt_tr_var_load(dt_tr *t, int scope, uint32_t id, uint32_t rd);
void dt_tr_var_store(dt_tr *t, int scope, uint32_t id, uint32_t rs);
void dt_tr_array_load(dt_tr *t, int scope, uint32_t id, uint32_t rd);
void dt_tr_array_store(dt_tr *t, int scope, uint32_t id, uint32_t rs);

/* ---- thread.c ---- */
void dt_thread_value(dt_tr *t, bool make); /* r0 = the object of the thread, or NULL */
void dt_thread_functions(dt_tr *t);
int dt_thread_table(dt_engine *e, uint32_t size, dt_error *err); /* for objects of so many bytes */
int dt_thread_attach(dt_engine *e, dt_error *err);
bool dt_thread_storage_is_found(void); /* whatever the CPU is doing (Linux 6.2) */

/* ---- peek.c ---- */
void dt_tr_find_cast(dt_engine *e);
/* r0 = the number of `size` bytes at the address in r3, or 0 when it cannot be read. */
void dt_tr_peek(dt_tr *t, uint32_t size);
/* The same, if the kernel lets programs load like that; false: nothing was emitted. */
bool dt_tr_direct(dt_tr *t, uint32_t size);
uint32_t dt_tr_tracepoint_id(const dt_engine *e, const char *event); /* in the kernel's BTF; 0: a module's */
/* What the program knows of its arguments: see typed in struct dt_plan_prog. */
uint32_t dt_tr_typed_args(dt_engine *e, const struct dt_plan_prog *p);
dt_tr_val dt_tr_trusted(const dt_tr *t, uint32_t root); /* or a number */
dt_tr_val dt_tr_sum(const dt_tr_val *a, const dt_tr_val *b); /* what is known of it */
/* r0 = number at the address; TRUST_MAYBE: 0 when it cannot be read. TRUST_NO: nothing was emitted. */
enum dt_tr_trust { TRUST_NO, TRUST_MAYBE, TRUST_YES };
enum dt_tr_trust dt_tr_trust(const dt_tr *t, const dt_tr_val *v, uint32_t size); /* which will it be? */
void dt_tr_trusted_load(dt_tr *t, const dt_tr_val *v, uint32_t size);
dt_tr_val dt_tr_followed(const dt_tr_val *v, uint32_t size); /* what is known of the number */

/* ---- tr_memory.c ---- */
/* r0 = offset in scratch of r1 new bytes, zeroed if asked; NOSCRATCH. */
void dt_tr_alloc(dt_tr *t, bool zero);
void dt_tr_alloc_const(dt_tr *t, uint64_t n, bool zero);
void dt_tr_store(dt_tr *t, uint32_t size, uint32_t value_reg, uint32_t addr_reg);
/* helper(read): r1 to, r2 size, r3 from; r0 = what it returned. User memory is waited for where that can be. */
void dt_tr_read(dt_tr *t, int read);
void dt_tr_copy(dt_tr *t, uint32_t from_reg, uint32_t size_reg, uint32_t to_reg);
/* The same from tuple values: which hold source, size and target. */
void dt_tr_copy_tuple(dt_tr *t, uint32_t from, uint32_t size, uint32_t to, bool user);
/* Count a loss on this CPU: counter is CPU_*. Clobbers r0-r5. */
void dt_tr_count(dt_tr *t, uint32_t counter);
void dt_tr_memory_functions(dt_tr *t); /* emit what was asked for */

/* ---- sub.c, lib.c ---- */
/* Call a subroutine of lib.c: its arguments go to consecutive words of the slot from where
 * dt_sub_args() says; after dt_sub_run() r0 is its value, faults are taken care of. */
uint32_t dt_sub_args(dt_tr *t, const char *name);
void dt_sub_run(dt_tr *t, const char *name);
void dt_sub_emit(dt_tr *t);	       /* at the end of a program: all that were called */
extern const char *const dt_sub_sources[]; /* ends with NULL */

/* ---- call.c ---- */
void dt_tr_subr(dt_tr *t, uint32_t subr, uint32_t rd);

/* ---- tr_action.c, tr_agg.c ---- */
void dt_tr_clause(dt_tr *t);
void dt_tr_output(dt_tr *t, uint32_t size); /* size 0: up to the cursor */
void dt_tr_output_function(dt_tr *t);
void dt_tr_cpu_find(dt_tr *t, uint32_t none); /* r0 = the row of the slot's CPU */
void dt_tr_cpu_row(dt_tr *t, uint32_t none); /* r9 = the same */
/* r1 = the map of CPU r8 */
void dt_tr_map_of_cpu(dt_tr *t, const struct dt_ring *of, int array, uint32_t none);
bool dt_tr_ring_array(const dt_engine *e); /* there are too many CPUs to name all their maps in a program */
void dt_tr_wake(dt_tr *t); /* the consumer */
/* Set bytes of a small buffer aside; r0 = 0: there are none. */
void dt_tr_reserve(dt_tr *t, uint32_t cost);
void dt_tr_unreserve(dt_tr *t);
void dt_tr_reserve_functions(dt_tr *t);
void dt_tr_header(dt_tr *t, uint32_t type); /* of the record */
void dt_tr_stack(dt_tr *t, bool user, uint32_t off, uint32_t nframes);
void dt_tr_datum(dt_tr *t, const dt_action *a, const dt_tr_val *v, uint32_t off,
		  uint32_t size); /* value in r0 to slot + off; not strings */
void dt_tr_agg_key(dt_tr *t, const dt_action *a, const struct dt_plan_action *p,
		    const dt_tr_val *v);
void dt_tr_aggregate(dt_tr *t, const dt_action *a, const struct dt_plan_action *p);

/* ---- prog.c ---- */
int dt_tr_program(dt_engine *e, const struct dt_plan_prog *p, dt_code *c, dt_error *err);

/* ---- prog_btf.c ---- */
int dt_code_btf_threads(dt_engine *e, uint32_t value_size, dt_error *err); /* fills fd_btf, btf_* */
/* BTF with a FUNC per function of c; info gets one record for each. Returns the fd. */
int dt_code_btf(const dt_code *c, uint32_t slot_size, struct bpf_func_info *info,
		     dt_error *err);

/* ---- bpf_maps.c ---- */
int dt_kmaps_create(dt_engine *e, dt_error *err);
int dt_kmaps_rodata(dt_engine *e, dt_error *err); /* a map of what there is so far */
void dt_kmaps_fill_pools(dt_engine *e);
/* A map, which is closed with the engine; -1 with *err. */
int dt_kmap_make(dt_engine *e, enum bpf_map_type type, const char *name, uint32_t key, uint64_t value,
		    uint64_t entries, uint32_t flags, dt_error *err);
void *dt_kmap_memory(int fd, uint64_t size, dt_error *err); /* of one that is BPF_F_MMAPABLE; NULL with *err */

/* ---- buffers.c ---- */
int dt_kmaps_buffers(dt_engine *e, dt_error *err);
bool *dt_kmaps_online_cpus(uint32_t n); /* which of the first n CPUs are on; on the heap */

/* ---- load.c ---- */
int dt_load_all(dt_engine *e, dt_error *err);
int dt_load_program(dt_engine *e, struct dt_plan_prog *p, dt_error *err);
int dt_load_error(dt_error *err, const char *doing);

/* ---- attach_user.c ---- */
struct dt_user_row {
	uint32_t probe;	   /* plus 1; 0: nobody asked for it */
	uint32_t pid;	   /* 0: any */
	int32_t number;	   /* dt_attach's */
	uint32_t prologue; /* index into e->prologues, if it has one */
	uint32_t mask[];
};
bool dt_plan_is_user(enum dt_probe_kind kind);
bool dt_attach_has_uprobe_multi(void);
int dt_user_table_make(dt_engine *e, struct dt_plan_prog *p, dt_error *err); /* make and fill it */
void dt_user_row_write(dt_engine *e, const struct dt_plan_prog *p, uint32_t probe);
void dt_user_table_free(struct dt_plan_prog *p);
/* Attach the probes from `first` on. */
void dt_attach_allow_descriptors(void); /* as many as this process may have */
int dt_attach_user(dt_engine *e, const struct dt_plan_prog *p, uint32_t first, dt_error *err);
/* One place for a program of another sort. */
int dt_attach_place(dt_engine *e, int prog, const char *path, uint64_t offset, int pid, uint64_t cookie,
			dt_error *err);

/* ---- attach.c ---- */
void dt_attach_keep(dt_engine *e, int fd); /* closed when everything is detached */
struct perf_event_attr;
/* A program on a perf event, which goes away with the link. -1 with errno. */
int dt_attach_event(int prog, struct perf_event_attr *a, int pid, int cpu, uint64_t cookie);
bool dt_plan_is_on(const dt_engine *e, const struct dt_plan_prog *p, uint32_t probe); /* with any of its clauses */
bool dt_attach_has_cookies(void);
int dt_attach_all(dt_engine *e, dt_error *err);
void dt_attach_end(dt_engine *e);
int dt_attach_fire(dt_engine *e, enum dt_probe_kind kind, dt_error *err);

/* ---- ring.c ---- */
int dt_rings_map(dt_engine *e, dt_error *err);
void dt_rings_free(dt_engine *e);
bool dt_ring_attend(dt_engine *e);
int dt_ring_consume(dt_engine *e, const dt_sink *sink);
bool dt_ring_wakes_early(const dt_engine *e); /* when a buffer is filling */
/* Wait for every firing that is under way now; false: it took longer than these nanoseconds. */
bool dt_ring_quiesce(dt_engine *e, uint64_t patience);
#define DT_BPF_PATIENCE	    1000000000ull /* while tracing goes on */
#define DT_BPF_LAST_PATIENCE 10000000000ull

/* ---- tail.c ---- */
uint64_t dt_tail_size(const dt_engine *e);		 /* bytes wanted for the clauses ... */
void dt_tail_plan(dt_engine *e, uint64_t size); /* ... and those there will be */
int dt_tail_map(dt_engine *e, uint32_t cpu, dt_error *err);
void dt_tr_tail_functions(dt_tr *t);
void dt_tail_read(const dt_engine *e, uint32_t cpu, void (*each)(void *arg, const struct dt_rec *r, uint32_t size),
		      void *arg);

/* ---- snapshot.c ---- */
int dt_snapshot(dt_engine *e, const dt_sink *sink);

#endif

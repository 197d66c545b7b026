/*
 * exchange: memory that dtrace and its target share, and what the runtime in the target finds there. Private to the module.
 *
 * It is mapped at the same address in both, so pointers in it are valid in both. But the target can write all of it: the
 * engine writes pointers for the runtime and never reads them back. It reads counters, records and rows of aggregations,
 * and checks every size and index in them.
 */
#ifndef DT_PROCESS_EXCHANGE_H
#define DT_PROCESS_EXCHANGE_H

#include "elf/cfi.h"
#include "vm/machine.h"

#define DT_PE_KEYS_MAX 32 /* of an aggregation */
#define DT_PE_LINE     128
#define DT_PE_DEPTH    16384 /* frames that ustackdepth counts */
struct dt_pe_slot;

/* Before the runtime's code: memory of the target itself, which is zero in its children (MADV_WIPEONFORK). */
struct dt_pe_anchor {
	uint32_t active; /* probes fire; the first word: the code that a probe runs reads it */
	int32_t pid;	 /* as dtrace sees it */
	uint32_t tid_at; /* the C library keeps the thread's id that far from the thread pointer; 0: not known */
	int32_t cpu_at;	 /* the same for the number of its CPU, which the kernel keeps there (rseq) */
	struct dt_pe_shared *shared;
	uint64_t clock;	 /* the kernel's clock_gettime() in this process; 0: there is none */
};
#define DT_PE_ANCHOR_SIZE 4096

/* Registers of the thread at a probe: as the code that every probe runs has pushed them (dt_arch.frame). */
struct dt_pe_frame {
	uint64_t token; /* DT_PE_TOKEN while the firing lasts */
	uint64_t word[];
};
#define DT_PE_REGS  32
#define DT_PE_TOKEN 0x5ed1b07a6c93e84full

/* A place in the code with probes. */
enum dt_pe_call_kind { DT_PE_NO_CALL, DT_PE_CALL, DT_PE_CALLED }; /* before, after a system call */
struct dt_pe_site {
	uint64_t at; /* its address */
	const dt_prologue *prologue;
	bool is_return, is_entry;
	enum dt_pe_call_kind call; /* its ECBs are in dt_pe_shared.calls */
	uint64_t call_at;	   /* where that is made, */
	uint32_t call_number;	   /* and which one it is there; UINT32_MAX: any */
	bool samples; /* wherever a thread is: profile, */
	bool begins;  /* or, with no arguments, the start of the process */
	bool gate;    /* the thread waits until dtrace has looked at what is mapped */
	bool shows_cpu;		       /* some clause records something, or reads the variable */
	uint64_t number;	       /* is_return: arg0 */
	const struct dt_vm_ecb *const *ecbs;
	uint32_t necbs;
	const uint64_t *code; /* for each of them: its machine code; 0: it is interpreted */
	bool lean;	      /* all have some, and need nothing else of a firing */
};
/* Called with the slot, the frame and the ECB. 0, or 1 + the action that faulted. */
typedef uint64_t dt_pe_code(struct dt_pe_slot *s, const struct dt_pe_frame *frame, const struct dt_vm_ecb *x);
#define DT_PE_HELPERS_AT 512 /* in the runtime: 32 bits for each function that machine code calls, where it is */

/* Code that is mapped, and its table for walking stacks: rows by offset in the file, and for each block of it the number of
 * the row that is in effect at its first byte, and one more. */
#define DT_PE_BLOCK_BITS 8
struct dt_pe_code_map {
	uint64_t start, end, offset; /* offset: of start, in the file */
	const dt_unwind_row *rows;
	const uint32_t *index;
	uint32_t nrows, nblocks;
};
struct dt_pe_code {
	uint32_t n;
	struct dt_pe_code_map v[]; /* by address */
};
struct dt_pe_seen { /* the row of a program counter; NULL: none */
	uint64_t pc;
	const dt_unwind_row *row;
};
#define DT_PE_SEEN 128

/* Keys of an aggregation that are numbers, in a clause; their values are in dt_pe_slot.keys. */
struct dt_pe_keys {
	const dt_agg *agg;
	uint32_t index; /* of the aggregation, in dt_pe_table.direct */
	uint32_t nkeys, cost; /* cost: as vm_agg.c counts it */
	uint32_t shown[]; /* dt_datum.shown */
};

/* ---- rows of aggregations: two tables, of which one is in use ---- */
struct dt_pe_row {
	uint64_t hash;
	uint32_t next; /* in the bucket: offset / 8 + 1 */
	uint32_t size; /* of it all, a multiple of 8 */
	uint32_t agg;  /* its id */
	uint32_t cpu, nkeys, key_size, nwords;
	uint32_t pad;
	uint64_t data[]; /* nwords of the value; keys, each u64 size, bytes, padding; nkeys u32 of dt_datum.shown */
};

struct dt_pe_table {
	uint64_t used;	/* cost of the rows, as vm_agg.c counts it */
	uint64_t top;	/* bytes of rows */
	uint32_t nrows;
	uint32_t *buckets;
	uint32_t *direct; /* aggregations without keys: where in `rows` the value is; 0: not known */
	uint8_t *rows;
};

struct dt_pe_aggs {
	uint64_t limit, cap; /* of used, of top */
	uint32_t nbuckets;   /* a power of two */
	uint32_t active;     /* which table: dtrace changes it */
	struct dt_pe_table table[2];
	/* the row being built */
	uint8_t *key, *room;
	uint32_t key_size, key_cap, room_cap, nkeys;
	bool too_large;
	uint64_t key_cost;
	uint32_t shown[DT_PE_KEYS_MAX];
};

/* ---- records of a thread: the thread moves the head; dtrace the tail, or with bufpolicy=ring the thread ---- */
enum dt_pe_entry_kind {
	DT_PE_RECORD = 1,
	DT_PE_SKIP,  /* there is no record, the next one is at the start of the buffer */
	DT_PE_SHORT, /* as machine code makes them */
};
struct dt_pe_head { /* of each entry */
	uint32_t size; /* of it all, a multiple of 8 */
	uint32_t kind;
};
struct dt_pe_entry { /* DT_PE_RECORD */
	struct dt_pe_head head;
	dt_vm_rec rec;	/* its ecb is an address in dt_pe_shared.ecbs */
};
static inline uint64_t dt_pe_entry_size(uint64_t data)
{
	return dt_align_up(sizeof(struct dt_pe_entry) + data, 8);
}
struct dt_pe_short { /* the only part of a clause */
	struct dt_pe_head head;
	const struct dt_vm_ecb *ecb;
	uint64_t timestamp;
	uint32_t cpu, cost;
	uint8_t data[];
};

struct dt_pe_ring {
	uint64_t head, head_cost; /* bytes ever written; cost of these records */
	uint64_t base;		  /* what is at the start of the buffer: it changes when all has been read */
	uint64_t at;		  /* the head, in the buffer: (head - base) % size without a division */
	uint64_t tail, tail_cost;
	uint8_t *data;
	uint64_t size, limit; /* limit: of the cost */
};

/* ---- speculations: of all threads ---- */
enum dt_pe_spec_state { /* the lowest bits of dt_pe_spec.word */
	DT_PE_SPEC_FREE,
	DT_PE_SPEC_ACTIVE,
	DT_PE_SPEC_USED,
	DT_PE_SPEC_COMMITTING, /* nobody begins to write; when nobody writes any more, ... */
	DT_PE_SPEC_DISCARDING,
	DT_PE_SPEC_ENDING, /* ... a thread does that: above the state is the number of its slot */
};
#define DT_PE_SPEC_STATE 0xffull
#define DT_PE_SPEC_OWNER 0x100ull
struct dt_pe_spec {
	uint64_t word;	    /* the state */
	uint64_t cost, top; /* of its records; bytes of them */
	uint64_t timestamp; /* COMMITTING */
	uint8_t *data;	    /* entries as in a buffer of records; their kind is set last, and it is 0 where nothing is */
};

struct dt_pe_specs { /* of a slot */
	uint32_t n, self; /* self: the number of the slot */
	uint32_t *writes; /* for each slot: the speculation that its thread writes to, from 1; 0: none */
	uint32_t commits; /* the one that commit() is about to copy */
	dt_vm_buf buf;	  /* stands for that one, or this, for the interpreter; its `ring` is true, which it is not in other buffers */
	uint64_t limit, cap; /* of cost, of top */
	uint64_t drops, busy, unavail;
	struct dt_pe_spec *v;
};

/* ---- a thread; on cache lines of its own ---- */
#define DT_PE_SLOTS 128
#define DT_PE_TAKEN UINT32_MAX
struct __attribute__((aligned(DT_PE_LINE))) dt_pe_slot {
	uint32_t tid;  /* whose it is; 0: free; DT_PE_TAKEN: it changes hands */
	uint64_t busy; /* a probe is firing in it: its frame, on the thread's stack */
	uint64_t done; /* firings that have ended */
	uint64_t nested; /* firings in a signal handler during another one: lost */
	uint64_t drops, agg_drops;
	struct dt_pe_ring ring;
	struct dt_pe_aggs aggs;
	struct dt_pe_specs specs;
	const struct dt_pe_site *site;
	const struct dt_pe_frame *regs;
	/* rt_stack.c: the stack, as far as it can be loaded from; where it cannot; a piece of another one; rows */
	uint64_t stack_start, stack_end, stack_bad;
	uint64_t window_at, window_size;
	uint8_t window[512];
	struct dt_pe_seen seen[DT_PE_SEEN];
	uint64_t seen_number; /* dt_pe_shared.code_number that they are of */
	uint64_t call_at, call_number; /* the system call that the thread is in; 0: none that is known */
	dt_vm_dynstate own_state;
	uint64_t keys[DT_PE_KEYS_MAX]; /* of machine code */
	dt_vm_engine e;
};

struct dt_pe_calls { /* a system call: what fires before and after it */
	const struct dt_vm_ecb *const *ecbs[2];
	uint32_t n[2];
};

struct dt_pe_list {
	const struct dt_vm_ecb *const *v;
	uint32_t n;
};

struct dt_pe_shared {
	uint32_t live;	 /* the lease: 0 when tracing has ended, or dtrace has */
	uint32_t wake;	 /* a futex: dtrace waits for it to change */
	uint32_t exiting, filled; /* filled: bufpolicy=fill, and the buffer of a thread is full */
	int32_t exit_status;
	/* gates: how many threads have come, and how many may go on: a futex. waits: dtrace looks at it */
	uint32_t arrived, admitted, waits;
	uint32_t nslots; /* a power of two */
	uint64_t no_slot; /* firings in more threads than there are slots */
	struct dt_pe_slot *slots;
	const struct dt_vm_ecb *ecbs;
	const struct dt_vm_ecb *const *errors; /* those of ERROR */
	uint32_t nerrors;
	const char *execname;
	/* Registers by their index in struct pt_regs: which word of the frame; 0: none, it is not saved. */
	uint8_t reg[DT_PE_REGS];
	uint8_t arg[6], result; /* words: arguments of a function, and what it returns */
	uint32_t stack_at;	/* bytes from the frame to where the stack pointer was; of a sample one word more */
	uint32_t pc_at;		/* of a sample: bytes from the frame to the program counter */
	uint32_t pc, sp, fp, base; /* these registers, by index */
	/* system calls, by number; which words of the frame have the number and the arguments */
	const struct dt_pe_calls *calls;
	uint32_t ncalls;
	struct dt_pe_list life[DT_IN_MAX]; /* clauses about the process itself; lives: there are some */
	bool lives;
	uint32_t execs, execs_failed; /* that began, and that came back */
	uint32_t exited;	      /* exit has fired */
	uint8_t call_number, call_arg[6];
	/* walking stacks */
	struct dt_arch_unwind unwind;
	uint8_t saved[DT_PE_REGS]; /* the word of each register among those that a signal saves, from 1; 0: none */
	uint64_t stack_end;	   /* of the first thread's stack */
	const struct dt_pe_code *code;
	uint64_t code_number; /* changes after it */
};

#endif

/*
 * shared: memory that programs in the kernel and this process both read or write: control words, a
 * row for each CPU, records, the tables of events.
 */
#ifndef DT_BPF_PLAN_SHARED_H
#define DT_BPF_PLAN_SHARED_H

#include <stdint.h>

/* The maximum number of concurrent firings on one CPU. Interrupts nest three deep, but tasks can be
 * preempted in the middle of a system call probe, each keeping its slot until it runs again. */
#define DT_SLOTS_MAX 32

/* ---- control: one value, mapped into this process ---- */

#define DT_GATE_COMERS 16 /* a power of two */

#define DT_OURS_MAX  64 /* processes that may be stopped */
#define DT_OURS_SIZE 24 /* of each: pid, stops, resumed */

enum {
	CTL_WORD = 0,	 /* bit 0: aggregation generation; the others say which probes may fire */
	CTL_EXITING = 8, /* exit() was called: 1, and its status in the upper half; one word, so that one exit() wins */
	CTL_FILLED = 16, /* fill policy: a buffer is full */
	CTL_WALL = 24,	 /* walltimestamp - timestamp */
	CTL_RAND = 32,
	CTL_SPEC = 40,	   /* speculations allocated so far: where to look for a free one */
	CTL_WOKEN = 48,	   /* a buffer is filling and the consumer has been told */
	CTL_ARRIVED = 56,  /* processes that have reached a gate (gate.c) ... */
	CTL_ADMITTED = 64, /* ... and those of them that may continue */
	CTL_CLAIMS = 72,   /* 256 words: the last key that was claimed in each */
	CTL_COMERS = CTL_CLAIMS + 256 * 8, /* pids of the latest to reach a gate, u32 each, by number */
	CTL_TICKETS = CTL_COMERS + DT_GATE_COMERS * 4, /* numbers drawn; in `arrived` the pid is written as well */
	CTL_ASIDE = CTL_TICKETS + 8, /* threads whose variables are not in task storage: thread.c */
	CTL_SPARED = CTL_ASIDE + 8, /* some array has elements in its second map: var.c */
	CTL_REFUSED = CTL_SPARED + 8, /* updates of aggregations that their maps have refused: tr_agg.c */
	CTL_DIRECT = CTL_REFUSED + 8, /* absent.c: start of the kernel's direct map; 0: not known ... */
	CTL_PAGES = CTL_DIRECT + 8,  /* ... its array of struct page ... */
	CTL_TOP = CTL_DIRECT + 16,   /* ... as in dt_arch_paging ... */
	CTL_LIMIT = CTL_DIRECT + 24, /* ... and the bits of an entry that are an address */
	CTL_PEEKED = CTL_DIRECT + 32, /* result for direct_map.c */
	CTL_LATE = CTL_PEEKED + 8, /* a process has waited at a gate in vain, and none was admitted since: gate.c */
	CTL_ARMED = CTL_LATE + 8, /* programs may stop processes: tr_lossless.c ... */
	CTL_OURS = CTL_ARMED + 8, /* ... which ones: struct dt_guarded */
	CTL_QUIET = CTL_OURS + DT_OURS_MAX * DT_OURS_SIZE, /* option overhead: printing clauses do not run ... */
	CTL_SAMPLE = CTL_QUIET + 8, /* ... and of the firings of aggregating ones, one in so many does */
	CTL_AWAKE = CTL_SAMPLE + 8, /* eager: the consumer looks for records by itself; 0: wake it */
	CTL_SIZE = CTL_AWAKE + 8,
};
enum { CTL_GEN = 1, CTL_ACTIVE = 2 };

/* ---- what the key of an aggregation's row begins with: generation (CTL_GEN), slot from bit 1 on, member from this bit on ---- */
enum { ROW_MEMBER = 18, ROW_MEMBERS = 1 << (31 - ROW_MEMBER) };

#define ASIDE_OWNER 8 /* bytes before each object of the table in addition to task storage (thread.c): its owner */

/* ---- updates of aggregations that a map has refused, mapped into this process: tr_agg.c ---- */

enum {
	REFUSED_STATE = 0, /* 0: free */
	REFUSED_AGG = 8,
	REFUSED_VALUE = 16, /* what is aggregated, or the word of the bucket ... */
	REFUSED_INCR = 24,  /* ... and what it grows by */
	REFUSED_KEY = 32,
};
enum { REFUSED_TAKEN = 2 }; /* and the generation */

/* ---- one row per CPU, mapped into this process ---- */

enum {
	CPU_DROPS = 0,
	CPU_AGG_DROPS = CPU_DROPS + 8,
	CPU_DYN_DROPS = CPU_DROPS + 16,
	CPU_SPEC_DROPS = CPU_DROPS + 24,
	CPU_SPEC_UNAVAIL = CPU_DROPS + 32,
	CPU_DBL_ERRORS = CPU_DROPS + 40,
	CPU_CHILL_WINDOW = CPU_DROPS + 48,
	CPU_CHILL_USED = CPU_DROPS + 56,
	CPU_USED = CPU_DROPS + 64,   /* bytes of a small buffer in use */
	CPU_VCLOCK = CPU_DROPS + 72, /* timestamp - the scheduler's clock; 0: not known */
	CPU_HEAD = CPU_DROPS + 80,   /* ring policy, see tr_tail.c: where the newest record is ... */
	CPU_SAFE = CPU_DROPS + 88,   /* ... how far down no firing is writing ... */
	CPU_MASK = CPU_DROPS + 96,   /* ... bytes of the circle, minus 1 */
	CPU_ABSENT = CPU_DROPS + 104, /* faults because user memory was not in memory */
	CPU_FULL = CPU_DROPS + 112,   /* fill policy: a record had no room, nothing more is recorded here */
	CPU_SHED_PRINTING = CPU_DROPS + 120, /* firings that were left out: tr_shedding.c */
	CPU_SHED_SAMPLED = CPU_DROPS + 128,
	CPU_THREAD = CPU_DROPS + 136, /* tr_current.c: the thread that was here when it was last looked up */
	CPU_BUSY = CPU_THREAD + 8,    /* a word for each slot, 1 while a firing owns it */
	CPU_WRITING = CPU_BUSY + DT_SLOTS_MAX * 8, /* two for each slot: where its record goes, and bytes of it */
	CPU_SIZE = (CPU_WRITING + DT_SLOTS_MAX * 16 + 63) & ~63, /* no two CPUs write to the same line of a cache */
};

/* ---- one row per CPU and clock event: lateness.c ---- */
enum { CLOCK_PERIOD = 0, CLOCK_DUE = 8, CLOCK_LAST = 16, CLOCK_SIZE = 24 };

/* ---- a row per probe: u32 offsets of its four names, then its id, then where the function returns ---- */
#define NAME_ROW	32
#define NAME_ROW_SHIFT	5
#define NAME_ROW_ID	16
#define NAME_ROW_RETURN 20
#define NAME_TEXT_SIZE	(2u << 20) /* a power of two; for all names, when probes can join */

/* ---- a row per place in user code: attach_user.c ---- */
struct dt_user_row {
	uint32_t probe;	   /* plus 1; 0: no probe has it */
	uint32_t pid;	   /* 0: any */
	int32_t number;	   /* dt_attach's; where the return address is in a register: */
#define DT_ROW_LEAVES 0x40000000 /* ... it is there, and the stack pointer is as at the entry: at a return */
	uint32_t prologue; /* index into the plan's prologues, if it has one */
	uint32_t pops;	   /* dt_attach's: a ret that the program carries out; 0: the kernel does */
	uint32_t mask[];
};

/* ---- a word per 16 bytes of kernel code: attach_kernel.c ---- */
#define DT_PLACE_SHIFT 4

/* ---- the first word of the value of an aggregation's row: 1, and for each integer key of several sizes its size ---- */
#define DT_AGG_SIZED_KEYS	    20 /* that there is room for */
#define DT_AGG_SIZE_CODE(size, key) ((uint64_t)((size) == 8 ? 4 : (size) == 4 ? 3 : (size)) << (4 + 3 * (key)))
#define DT_AGG_SIZE_OF(word, key)   ((word) >> (4 + 3 * (key)) & 7 ? 1u << (((word) >> (4 + 3 * (key)) & 7) - 1) : 0)

/* ---- records ---- */
struct dt_rec {
	uint32_t clause; /* index; REC_FAULT ... in type */
	uint32_t probe;
	uint64_t time;
	uint32_t spec; /* speculation: id | use << 16; 0: none */
	uint16_t type; /* below, and REC_MORE */
	uint16_t cpu; /* of records in ring buffers */
};
enum { REC_DATA, REC_FAULT, REC_COMMIT, REC_DISCARD };
#define REC_MORE      0x100 /* not the first part of this firing of the clause */
#define REC_TYPE(r)   ((r)->type & 0xff)
#define REC_HEADER ((uint32_t)sizeof(struct dt_rec))
/* Of a clause with control flow: which part it is, after the header. */
struct dt_part_rec {
	struct dt_rec head;
	uint64_t part;
};
struct dt_fault_rec {
	struct dt_rec head;
	uint32_t action;
	int32_t offset;
	uint32_t code;
	uint32_t absent; /* not 0: user memory was not in memory */
	uint64_t value;
};

/* A record in a circle of the ring policy: tr_tail.c. */
struct dt_tail_frame {
	uint32_t size, step; /* step: bytes to the next older one, by 8 */
	struct dt_rec rec[];
};
#define DT_TAIL_START (1ull << 62) /* where heads begin */

#endif

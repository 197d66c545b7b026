/*
 * layout: the offsets of everything: the areas of the slot, variables in their maps, and read-only
 * data with the tables of events.
 */
#ifndef DT_BPF_PLAN_LAYOUT_H
#define DT_BPF_PLAN_LAYOUT_H

#include "bpf/plan/needs.h"
#include "bpf/plan/rodata.h"
#include "bpf/plan/shared.h"

struct dt_var_place {
	uint32_t offset; /* in its storage; by reference: of the 8-byte prefix */
	/* arrays */
	uint32_t key[DT_DIF_NTREGS]; /* offsets of its parts; of thread arrays the thread comes first */
	uint32_t key_size;
	uint64_t entries;
};

struct dt_scope_place {
	struct dt_var_place *v; /* as in the plan's vars */
	uint32_t size;		/* bytes of storage of the scalars */
	uint32_t refs;		/* where the by-reference ones begin */
};

/* The tables of a program. */
struct dt_prog_place {
	uint32_t table;		 /* in rodata: event -> { probe + 1, clause masks } */
	uint32_t nevents, masks; /* masks: words per event; 0: every clause on every event */
	uint32_t row_size;	 /* places in user code: of its own table (struct dt_user_row) */
	uint32_t nprobes;	 /* at the time its code was made */
	uint32_t prologue_of;	 /* in rodata, u32 by probe: index into the prologues */
};

/* absent.c: its own words before the bytes it has read; the most that it reads at once. */
#define DT_ABSENT_WORDS 64
#define DT_ABSENT_PIECE 4096
#define DT_PACKET_WORDS 32 /* packet.c: words of its own */
#define DT_STORAGE_MAX	65000 /* bytes of an object in task storage: the kernel's limit is less than 64 KB */

/* tr_flow.c: where the clause continues, a u64; REC_MORE or 0, a u32; the rounds of each loop, u64s. */
enum { FLOW_AT = 0, FLOW_MORE = 8, FLOW_CALLS = 16, FLOW_ROUNDS = 24 }; /* the rounds of each loop, then where each function returns to */

struct dt_plan_layout {
	/* offsets from the start of the slot */
	uint32_t key, dkey;  /* keys under construction: aggregations (REFUSED_KEY bytes before it are its own), associative arrays */
	uint32_t last_key;   /* of the object among array elements that was read last */
	uint64_t more_elements; /* that arrays can have together when their own maps are full: var.c */
	uint32_t dkey_size;  /* of the largest; before each of both is a word: which array (var.c) */
	uint32_t sub_locals, nsub_locals; /* variables of subroutines; those of one are elsewhere in each program */
	uint32_t flow;	     /* FLOW_*, if some clause has control flow */
	uint32_t bodies;     /* of each body its first action and part in the clause at hand; then the rounds of their loops */
	uint32_t local_vars; /* clause-local variables */
	uint32_t local_refs, local_refs_size; /* their by-reference part */
	uint32_t record, record_size;
	uint32_t buf[6], buf_size;	/* A, B, O, T, G, P of the subroutine language; after G and P, two words (lib_cgroup.c) */
	uint32_t stack;			/* frames of stackdepth and friends */
	uint32_t absent, absent_size;	/* absent.c; absent_size: bytes that it can read at once */
	uint32_t packet;		/* packet.c; after the record there are as many bytes as it records */
	uint32_t scratch, scratch_size; /* the area is twice scratch_size, see tr_memory.c */
	uint32_t slot_size, nslots;	/* nslots: a power of two */
	/* in rodata */
	uint32_t zeros, zeros_size, names, epids;
	struct dt_scope_place vars[DT_PLAN_SCOPES];
	uint32_t thread_size; /* bytes of the object of a thread, with the space that tr_memory.c needs */
	uint32_t aside_bits;  /* the table in addition to task storage has 1 << this many entries: thread.c */
	uint32_t *agg;	   /* by aggregation without keys: offset in the value of the shared per-CPU array */
	uint32_t agg_size; /* bytes of that */
	uint32_t refused_size, refused_bits; /* of a refused update; there is room for 1 << this many */
	DT_VEC(struct dt_prog_place) progs;
	/* ring policy: circles, see tr_tail.c */
	uint64_t tail_size;
	uint32_t tail_piece, tail_value;
};

/* The layout used while learning: offsets are 0. */
void dt_layout_init(struct dt_plan_layout *l, const dt_plan *p);
int dt_layout_make(struct dt_plan_layout *l, const dt_plan *p, const dt_plan_needs *n, struct dt_rodata *ro,
		   dt_error *err);
/* The tables of program number i. */
void dt_layout_program(struct dt_plan_layout *l, const dt_plan *p, uint32_t i, struct dt_rodata *ro);
void dt_layout_free(struct dt_plan_layout *l);

/*
 * Arrays of rows that a program addresses by number: CPUs, slots, aggregations without keys. An array with one value that holds
 * all rows needs no look-up: a row is a sum. The kernel allows that up to 512 MB.
 */
static inline bool dt_layout_is_one_value(uint64_t rows, uint64_t size)
{
	return rows * size < 256u << 20;
}

/* Bytes that a map has for the variables of a scope: room for twice the objects, see tr_memory.c. */
/* Are thread-local variables in task storage? Else they are in the table beside it (thread.c). */
bool dt_layout_has_storage(const struct dt_plan_layout *l, const dt_plan *p);
uint64_t dt_layout_storage(const struct dt_scope_place *s);

/* ---- buffer_size.c ---- */
void dt_layout_tails(struct dt_plan_layout *l, const dt_plan *p); /* ring policy */
uint64_t dt_layout_frame(uint64_t size); /* bytes that a record takes of a circle */
/* There are too many buffers to name them all in a program. */
bool dt_layout_ring_array(const dt_plan *p, const dt_plan_needs *n, uint32_t buffers);
/* How many ring buffers there are, for all CPUs, and their size; bufsize is `size`. */
struct dt_rings {
	uint32_t n;
	uint64_t size;
} dt_layout_rings(const dt_plan *p, uint64_t size);
/* The consumer is woken when a buffer is filling. */
bool dt_layout_wakes_early(const dt_plan *p, const dt_plan_needs *n);

/* ---- names of probes ---- */
uint32_t dt_layout_name_bound(const dt_plan *p, uint32_t part); /* the longest, with NUL */
/* arg0 of a return: the offset in its function that the probe returns at; 0: unknown. */
uint32_t dt_layout_return(const dt_plan *p, const dt_plan_needs *n, uint32_t probe);
const char *dt_layout_name(const dt_probe *p, uint32_t part);

#endif

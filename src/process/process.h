/*
 * process: the engine that runs programs inside their target, without any privilege but ptrace. Private to the module; other
 * modules see dt_engine_process. doc/process-engine.md explains it.
 *
 *   process_engine.c  the engine interface; what is refused; BEGIN and END
 *   share.c     memory shared with the target, and the programs in it
 *   slots.c     threads of the target: their machines, records, aggregations
 *   pe_spec.c   speculations, between BEGIN, the target and END
 *   pe_clock.c  tick and profile; pe_sample.c: threads fire the latter
 *   pe_unwind.c tables for walking stacks
 *   pe_calls.c  probes of system calls
 *   pe_native.c machine code for clauses (compile.h)
 *   places.c    where in the code a probe can be
 *   intrude.c   getting into the process
 *   threads.c   where its threads are
 *   patching.c  changing its code, and getting out
 *   keeper.c    gets out when dtrace has been killed
 *   exchange.h  what is in the shared memory
 *   runtime/    what runs in the target: runtime.h
 */
#ifndef DT_PROCESS_H
#define DT_PROCESS_H

#include <pthread.h>

#include "arch/patch.h"
#include "process/exchange.h"
#include "proc/hold.h"
#include "proc/mappings.h"

extern const unsigned char dt_pe_runtime[]; /* made by the Makefile */
extern const size_t dt_pe_runtime_size;

/* ---- share.c ---- */
struct dt_pe_memory {
	uint8_t *base; /* the same address in the target */
	uint64_t size, used;
	bool full; /* something did not fit */
};
void *dt_pe_alloc(struct dt_pe_memory *m, uint64_t n); /* zeroed, a multiple of 8; NULL: no more */
void *dt_pe_copy(struct dt_pe_memory *m, const void *p, uint64_t n);

struct dt_pe_program { /* of the session, in shared memory */
	const dt_vm_engine *host;
	struct dt_vm_ecb *ecbs; /* as many and in the order of host->ecbs */
	DT_VEC(const dt_clause *) clauses;   /* those that are there ... */
	DT_VEC(const dt_clause *) copies;    /* ... and their copies */
	DT_VEC(dt_record_plan) plans;	     /* their plans, copied */
	DT_VEC(const dt_agg *) aggs;	     /* by their place in agg_copies */
	DT_VEC(const dt_agg *) agg_copies;
};
/* False: there is no room. */
bool dt_pe_share(struct dt_pe_program *p, struct dt_pe_memory *m);
const dt_prologue *dt_pe_share_prologue(struct dt_pe_memory *m, const dt_prologue *p); /* NULL for NULL, or no room */
void dt_pe_program_free(struct dt_pe_program *p);

/* ---- places.c ---- */
struct dt_pe_place { /* one place in the code, and the probes there */
	dt_patch patch;
	const dt_event *event;
	enum dt_pe_call_kind call; /* of a system call, which is made there: */
	uint64_t call_at;
	uint64_t semaphore;    /* of a static probe: 16 bits that count who traces it; 0: it has none */
	bool counted;	       /* we are among them */
	DT_VEC(uint32_t) ecbs; /* indices */
};
typedef struct {
	struct dt_pe_place **v;
	uint32_t n, cap;
	bool shared; /* they are one piece of memory */
} dt_pe_places; /* DT_VEC, and */
struct dt_pe_files; /* objects that were looked into */
/* Where the event is in the target; added to the list, or joined with one that is there. NULL with *err. */
struct dt_pe_place *dt_pe_place(dt_pe_places *all, struct dt_pe_files *files, const dt_probe *probe, const dt_event *event,
				dt_error *err);
/* Where the process makes system calls, in all the code that it has mapped; returns: also where it comes back. */
struct dt_pe_found {
	uint32_t placed, missed, halves; /* halves: placed, but not their returns */
};
struct dt_pe_found dt_pe_place_calls(dt_pe_places *all, struct dt_pe_files *files, bool returns);
struct dt_pe_files *dt_pe_files_new(long pid, dt_jail *jail, const dt_maps *maps);
void dt_pe_files_free(struct dt_pe_files *f);
/* They are complete: sort them by address, and share them with the keeper, which is started then. */
void dt_pe_places_share(dt_pe_places *all);
void dt_pe_places_free(dt_pe_places *all);

/* ---- intrude.c ---- */
struct dt_pe_area { /* memory near code, for stubs */
	uint64_t start, size, used;
};
/* What of us is in the target, or may be: in memory that the keeper has too. */
#define DT_PE_AREAS_MAX 1024
struct dt_pe_remains {
	uint64_t vdso, vdso_size;
	uint64_t code;		      /* of system calls, in the vdso: arch/remote.h */
	uint64_t base, base_size;     /* the anchor and the runtime */
	uint64_t shared, shared_size; /* the shared memory ... */
	char name[32];		      /* ... and the name of its file */
	struct dt_pe_area areas[DT_PE_AREAS_MAX];
	uint32_t nareas;
	bool patched;
};
struct dt_pe_target {
	long pid;
	struct dt_hold *hold; /* its threads, while it is stopped */
	int mem;	      /* its memory */
	struct dt_pe_remains *in;
	struct dt_pe_memory *shared;
	dt_pe_places *places; /* by address, when it is patched */
};
bool dt_pe_target_init(struct dt_pe_target *t, struct dt_pe_memory *shared, dt_pe_places *places); /* false: no memory */
void dt_pe_target_free(struct dt_pe_target *t);
/* Its memory; false, or the bytes read. */
bool dt_pe_write(const struct dt_pe_target *t, uint64_t at, const void *p, size_t n);
size_t dt_pe_read(const struct dt_pe_target *t, uint64_t at, void *p, size_t n);
/* A system call of one of its threads; what the kernel returned. */
bool dt_pe_can_call(const struct dt_pe_target *t);
long dt_pe_syscall(const struct dt_pe_target *t, long number, const uint64_t args[6]);
/* Get in: the process is held. Maps the runtime and the shared memory, of this size. -1 with *err. */
int dt_pe_target_enter(struct dt_pe_target *t, const dt_maps *maps, uint64_t size, dt_error *err);
/* Machine code of clauses: where it is, and put it there. False: it cannot be written. */
#define DT_PE_CODE_MAX (256u << 10)
uint64_t dt_pe_target_code_at(const struct dt_pe_target *t);
bool dt_pe_target_code(const struct dt_pe_target *t, const uint8_t *code, size_t n);
/* Make the stubs of all places. -1 with *err. */
int dt_pe_target_stubs(struct dt_pe_target *t, const dt_maps *maps, dt_error *err);
/* A stub for samples, which gets this site. -1 with *err. */
int dt_pe_target_sample(struct dt_pe_target *t, const dt_maps *maps, uint64_t site, uint64_t *stub, dt_error *err);

/* ---- threads.c ---- */
/* Those at instructions that are replaced continue at the copies in the stubs; out: back. */
void dt_pe_threads_move(const struct dt_pe_target *t, bool out);
bool dt_pe_target_is_inside(const struct dt_pe_target *t, uint64_t address); /* of what we have mapped for code */
/* Is one of them in a stub or in the runtime, or will it come back there? */
bool dt_pe_threads_inside(const struct dt_pe_target *t);
uint64_t dt_pe_rseq(pid_t tid); /* where a stopped thread has its struct rseq; 0: nowhere */
/* The restartable sequence (struct rseq_cs) that it may be in; 0: none. */
uint64_t dt_pe_sequence(const struct dt_pe_target *t, pid_t tid);

/* ---- patching.c ---- */
/* Put the jumps into the code, and let probes fire. */
int dt_pe_target_patch(struct dt_pe_target *t, dt_error *err);
/* Undo all of it, in a process that runs; also if it has ended. -1: not all, *err says what stays. */
int dt_pe_target_leave(struct dt_pe_target *t, dt_error *err);

/* ---- keeper.c ---- */
struct dt_pe_keeper;
struct dt_pe_keeper *dt_pe_keeper_start(struct dt_pe_target *t, dt_error *err); /* NULL with *err */
void dt_pe_keeper_free(struct dt_pe_keeper *k);

/* ---- the engine ---- */
struct dt_pe_pending { /* a record that was read */
	uint64_t timestamp;
	uint32_t ecb, part, cpu;
	bool continues, is_fault;
	dt_fault fault;
	uint64_t order;
	uint8_t *data;
};
struct dt_pe_flip { /* of a slot: the table of aggregations that is to be read */
	bool pending;
	uint32_t table;
	uint64_t done; /* firings at that moment */
};
struct dt_pe_object { /* a file that is mapped */
	uint64_t inode, dev;
	dt_unwind table;
	struct dt_pe_code_map shared; /* what its mappings have in common */
};
struct dt_pe_clock { /* a probe of profile */
	const dt_probe *probe;
	uint64_t period, due; /* nanoseconds */
	struct dt_pe_site *site; /* it samples; NULL: tick, which fires here */
	uint64_t stub;
	uint64_t waiting; /* ticks that have come and not fired */
};
typedef struct dt_pe {
	const struct dt_engine_env *env; /* while it opens */
	dt_options *opts;
	dt_vm_engine *host; /* runs BEGIN and END here */
	dt_vm_scope host_globals; /* its own memory, before it was shared */
	dt_vm_dynvars host_dyn;
	struct dt_pe_memory memory;
	struct dt_pe_program program;
	struct dt_pe_shared *shared; /* in it */
	struct dt_pe_target target;
	dt_pe_places places;
	dt_error remark; /* about probes that were refused */
	struct dt_pe_keeper *keeper;
	/* slots.c: as they were made; nothing of it is read back */
	struct dt_pe_slot *slots;
	uint32_t nslots;
	struct dt_pe_ring ring;
	struct dt_pe_aggs aggs;
	struct dt_pe_flip *flips;
	uint8_t **ring_data, **rows[2];
	uint32_t **buckets[2], **direct[2], **own_buckets;
	uint64_t **own_values;
	struct dt_pe_specs specs; /* as every slot has them */
	uint8_t **spec_data;
	DT_VEC(struct dt_pe_pending) pending;
	uint64_t order;
	uint64_t host_time; /* of the last record of a clause that ran here */
	/* waiting */
	int wake_fd;
	pthread_t waiter;
	bool waits, stopping;
	bool ended; /* stop() has been called */
	bool created; /* the target is a command of -c */
	DT_VEC(struct dt_pe_clock) clocks;
	/* pe_unwind.c */
	DT_VEC(struct dt_pe_object) objects;
	DT_VEC(struct dt_pe_code_map) code_maps;
	DT_VEC(uint32_t) code_objects; /* the object of each */
	uint64_t stack_end;
	pthread_t clock_thread;
	int clock_fd; /* ends it; -1: it does not run */
	uint64_t *drops, *agg_drops; /* per CPU, for status() */
} dt_pe;

/* ---- pe_calls.c ---- */
bool dt_pe_is_call(const dt_ecb *ecb);
void dt_pe_calls_place(dt_pe *p, struct dt_pe_files *files, dt_error *remark);
bool dt_pe_calls_share(dt_pe *p);

/* ---- pe_clock.c ---- */
bool dt_pe_is_clock(const dt_ecb *ecb);
bool dt_pe_is_sampled(const dt_ecb *ecb); /* such a probe fires in threads of the target */
bool dt_pe_clocks_make(dt_pe *p, bool target); /* in shared memory, if there is a target; false: no room */
int dt_pe_clocks_stubs(dt_pe *p, const dt_maps *maps, dt_error *err);
void dt_pe_clocks_start(dt_pe *p);
void dt_pe_clocks_stop(dt_pe *p);
bool dt_pe_clocks_fire(dt_pe *p); /* ticks that are due, in the thread of the session; true: there were some */
void dt_pe_clocks_free(dt_pe *p);

/* ---- pe_unwind.c ---- */
uint64_t dt_pe_unwind_read(dt_pe *p, long pid, const dt_maps *maps); /* tables for walking stacks, if clauses do: their bytes */
void dt_pe_unwind_share(dt_pe *p);
void dt_pe_unwind_free(dt_pe *p);

/* ---- pe_sample.c ---- */
struct dt_pe_sampler { /* used by one thread */
	const struct dt_pe_target *target;
	bool child;		  /* it is ours: its exit is waited for elsewhere */
	DT_VEC(pid_t) late; /* threads that have not stopped yet */
};
void dt_pe_sample(struct dt_pe_sampler *s, uint64_t stub); /* all threads that run fire it */
void dt_pe_sample_late(struct dt_pe_sampler *s);

/* ---- pe_native.c ---- */
bool dt_pe_compile(dt_pe *p); /* the clauses, for the sites that are there; false: no memory, or it cannot be written */

/* ---- slots.c ---- */
uint64_t dt_pe_slots_size(const dt_pe *p); /* bytes that all slots need */
bool dt_pe_slots_make(dt_pe *p);
int dt_pe_slots_consume(dt_pe *p, const dt_sink *sink);
int dt_pe_slots_snapshot(dt_pe *p, const dt_sink *sink);
void dt_pe_slots_status(const dt_pe *p, dt_status *st);
void dt_pe_slots_free(dt_pe *p);
void dt_pe_take_host(dt_pe *p); /* records of clauses that ran here, to the pending ones */
/* Entries of records: how large those of the program are at most, and how many bytes there are for each of their cost. Raises both. */
void dt_pe_entries(const dt_pe *p, uint64_t *largest, uint64_t *ratio);
/* An entry of `have` bytes to the pending records: its size; 0: it is none. Adds to *cost. */
uint64_t dt_pe_read_entry(dt_pe *p, const uint8_t *at, uint64_t have, uint64_t *cost);

/* ---- pe_spec.c ---- */
uint64_t dt_pe_specs_size(const dt_pe *p); /* bytes of shared memory */
bool dt_pe_specs_make(dt_pe *p);
void dt_pe_specs_share(dt_pe *p); /* after BEGIN: they are the target's */
void dt_pe_specs_take(dt_pe *p);  /* before END, when nobody fires any more */
void dt_pe_specs_status(const dt_pe *p, dt_status *st);

#endif

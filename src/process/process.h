/*
 * process: the engine that runs programs inside their target, without any privilege but ptrace. Private to the module; other
 * modules see dt_engine_process. doc/process-engine.md explains it.
 *
 *   process_engine.c  the engine interface; BEGIN and END;  pe_check.c  what is refused
 *   share.c     memory shared with the target, and the programs in it
 *   slots.c     threads of the target: their machines, records, aggregations
 *   pe_spec.c   speculations, between BEGIN, the target and END
 *   pe_clock.c  tick and profile; pe_sample.c: threads fire the latter
 *   pe_unwind.c tables for walking stacks
 *   pe_calls.c  probes of system calls;  pe_life.c  of proc
 *   pe_native.c machine code for clauses (compile.h)
 *   objects.c   files that are mapped;  places.c    where in their code a probe can be;  pe_report.c: for -lv
 *   place_table.c  all these places;  pe_map.c  probes in what is mapped;  pe_grow.c: later
 *   stops.c     stopping the process, shortly
 *   intrude.c   getting into it
 *   stubs.c     memory near its code
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
/* False: there is no room. cap: how many ECBs there will be at most. */
bool dt_pe_share(struct dt_pe_program *p, struct dt_pe_memory *m, uint32_t cap);
bool dt_pe_share_ecb(struct dt_pe_program *p, struct dt_pe_memory *m, uint32_t i); /* one more */
const dt_prologue *dt_pe_share_prologue(struct dt_pe_memory *m, const dt_prologue *p); /* NULL for NULL, or no room */
void dt_pe_program_free(struct dt_pe_program *p);

/* ---- place_table.c ---- */
enum dt_pe_state {
	DT_PE_NONE,    /* not in use */
	DT_PE_PLANNED, /* its code is as it was */
	DT_PE_IN,      /* the jump is there */
	DT_PE_AWAY,    /* its code is not mapped any more; that may be an error, or it may come back */
};
struct dt_pe_place { /* one place in the code, and the probes there */
	dt_patch patch;
	enum dt_pe_state state;
	bool made;   /* its stub is written */
	bool gate;   /* a thread waits there for dtrace: the dynamic linker has something new */
	uint64_t inode, offset; /* of the code: its file, and where in it */
	const dt_event *event;
	uint64_t function; /* where its function begins */
	enum dt_pe_call_kind call; /* of a system call, which is made there: */
	uint64_t call_at;
	uint32_t call_number;  /* UINT32_MAX: any */
	uint64_t semaphore;    /* of a static probe: 16 bits that count who traces it; 0: it has none */
	uint64_t semaphore_at; /* where in the file */
	bool counted;	       /* we are among them */
	DT_VEC(uint32_t) ecbs; /* indices */
	uint32_t next;	       /* place_table.c */
};
/* Those that are not NONE. The keeper has what begins with struct dt_pe_place_memory as well. */
struct dt_pe_place_memory {
	uint32_t n;
	uint64_t pad;
};
typedef struct dt_pe_places {
	struct dt_pe_place_memory *memory;
	struct dt_pe_place *v; /* memory->n of them; some are NONE */
	uint32_t cap;
	size_t size;
	DT_VEC(struct dt_pe_place *) order; /* PLANNED and IN, by address: dt_pe_places_sort() */
	bool sorted;
	uint32_t *cells, free;
} dt_pe_places;
bool dt_pe_places_init(dt_pe_places *all, uint32_t cap); /* false: no memory */
void dt_pe_places_free(dt_pe_places *all);
struct dt_pe_place *dt_pe_places_add(dt_pe_places *all, const struct dt_pe_place *like); /* a copy, PLANNED; NULL: there are too many */
void dt_pe_places_drop(dt_pe_places *all, struct dt_pe_place *x);
void dt_pe_places_away(dt_pe_places *all, struct dt_pe_place *x);
void dt_pe_places_back(dt_pe_places *all, struct dt_pe_place *x, uint64_t at);
/* The next one, PLANNED or IN, of which a byte is between these two; *it begins at 0. */
struct dt_pe_place *dt_pe_places_find(const dt_pe_places *all, uint64_t start, uint64_t end, uint32_t *it);
bool dt_pe_places_has(const dt_pe_places *all, uint64_t start, uint64_t end);
void dt_pe_places_sort(dt_pe_places *all);

/* ---- objects.c, and objects.h ---- */
struct dt_pe_files; /* objects that were looked into */
struct dt_pe_file;
struct dt_pe_files *dt_pe_files_new(long pid, dt_jail *jail);
void dt_pe_files_see(struct dt_pe_files *f, const dt_maps *maps); /* what is mapped from now on */
void dt_pe_files_free(struct dt_pe_files *f);

/* ---- places.c ---- */
/* Where the event is in the target, in this mapping of its file; added to the list, or joined with one that is there. NULL with *err: the reason. */
struct dt_pe_wish {
	const dt_probe *probe; /* NULL: a gate */
	const dt_event *event;
	const dt_mapping *in;
};
struct dt_pe_place *dt_pe_place(dt_pe_places *all, struct dt_pe_files *files, const struct dt_pe_wish *w, dt_error *err);
bool dt_pe_is_event_of(struct dt_pe_files *files, const dt_event *event, const dt_mapping *m); /* is its code there? */
uint64_t dt_pe_semaphore(struct dt_pe_files *files, const dt_event *event, const dt_mapping *in); /* 0: nowhere */
/* The next mapping that has the code of this event; *it begins at 0. NULL: there is none, and *err says so. */
const dt_mapping *dt_pe_place_mapping(struct dt_pe_files *files, const dt_event *event, uint32_t *it, dt_error *err);
/* Where the process makes system calls, in this mapping; returns: also where it comes back. */
struct dt_pe_found {
	uint32_t placed, missed, halves; /* halves: placed, but not their returns */
};
void dt_pe_place_calls(dt_pe_places *all, struct dt_pe_files *files, const dt_mapping *in, bool returns, struct dt_pe_found *found);

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
	bool theirs;	      /* by the session */
	struct dt_hold *late; /* threads that have not been released yet */
	pthread_mutex_t tracing; /* one of our threads at a time uses ptrace */
	uint64_t since; /* when it was stopped */
	uint64_t rests; /* it is not stopped again before this moment */
	int mem; /* its memory */
	struct dt_pe_remains *in;
	struct dt_pe_memory *shared;
	dt_pe_places *places;
};
bool dt_pe_target_init(struct dt_pe_target *t, struct dt_pe_memory *shared, dt_pe_places *places); /* false: no memory */
void dt_pe_target_free(struct dt_pe_target *t);
/* Its memory; false, or the bytes read. */
bool dt_pe_write(const struct dt_pe_target *t, uint64_t at, const void *p, size_t n);
size_t dt_pe_read(const struct dt_pe_target *t, uint64_t at, void *p, size_t n);
/* A system call of one of its threads; what the kernel returned. */
bool dt_pe_can_call(const struct dt_pe_target *t);
long dt_pe_syscall(const struct dt_pe_target *t, long number, const uint64_t args[6]);
bool dt_pe_map(const struct dt_pe_target *t, uint64_t at, uint64_t size); /* memory for code */
/* Get in. Maps the runtime and the shared memory, of this size. -1 with *err. */
int dt_pe_target_enter(struct dt_pe_target *t, const dt_maps *maps, uint64_t size, dt_error *err);
/* Machine code of clauses: where it is, and put some of it there. False: it cannot be written. */
#define DT_PE_CODE_MAX (256u << 10)
uint64_t dt_pe_target_code_at(const struct dt_pe_target *t);
bool dt_pe_target_code(const struct dt_pe_target *t, const uint8_t *code, size_t from, size_t to);

/* ---- stops.c: 0 or an errno; ESRCH: it is gone; EBUSY: not now ---- */
#define DT_PE_TRIES 200 /* about a second */
int dt_pe_stop(struct dt_pe_target *t, int tries);
void dt_pe_go_on(struct dt_pe_target *t);
int dt_pe_breathe(struct dt_pe_target *t); /* if it has been stopped for long: let it run for a moment */
bool dt_pe_late(struct dt_pe_target *t); /* release threads that could not be; true: there are still some */
bool dt_pe_sleeper(const struct dt_pe_target *t, pid_t tid, uint64_t *pc, uint64_t *sp); /* where a thread sleeps; false: it runs */

/* ---- stubs.c ---- */
/* Make the stubs of all places that have none. -1 with *err. */
int dt_pe_target_stubs(struct dt_pe_target *t, dt_error *err);
/* A stub for samples, which gets this site. -1 with *err. */
int dt_pe_target_sample(struct dt_pe_target *t, uint64_t site, uint64_t *stub, dt_error *err);

/* ---- threads.c ---- */
/* Where threads are, and will be when signal handlers return. */
struct dt_pe_context {
	pid_t tid;
	uint64_t pc, sp;
	uint64_t saved; /* where on the stack the pc is; 0: it is in the thread's register */
	bool fixed;	/* the thread sleeps, and its registers cannot be changed */
};
typedef DT_VEC(struct dt_pe_context) dt_pe_contexts;
bool dt_pe_contexts_find(const struct dt_pe_target *t, dt_pe_contexts *all); /* false: not of all threads */
/* Those at instructions that are replaced continue at the copies in the stub; out: back. False: one cannot. */
bool dt_pe_contexts_move(const struct dt_pe_target *t, dt_pe_contexts *all, const dt_patch *p, bool out);
bool dt_pe_target_is_inside(const struct dt_pe_target *t, uint64_t address); /* of what we have mapped for code */
/* Is one of them in a stub or in the runtime, or will it come back there? */
bool dt_pe_threads_inside(const struct dt_pe_target *t);
uint64_t dt_pe_rseq(pid_t tid); /* where a stopped thread has its struct rseq; 0: nowhere */
bool dt_pe_in_sequence(const struct dt_pe_target *t, pid_t tid, uint64_t pc); /* a restartable one */

/* ---- patching.c ---- */
/* Put the jumps into the code where they are not yet, and let probes fire. */
int dt_pe_target_patch(struct dt_pe_target *t, dt_error *err);
/* Undo all of it; also if it has ended. -1: not all, *err says what stays. */
int dt_pe_target_leave(struct dt_pe_target *t, dt_error *err);
/* Is the code of this place mapped, and not something else by now? */
bool dt_pe_is_there(const dt_maps *maps, const struct dt_pe_place *x);
/* Is it still the program that we came into? After an exec nothing of us is there. */
bool dt_pe_is_same_program(const struct dt_pe_target *t);

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
	bool is_shared;
	struct dt_pe_code_map shared; /* what its mappings have in common */
};
struct dt_pe_code_list {
	struct dt_pe_code *list;
	uint32_t cap;
};
struct dt_pe_clock { /* a probe of profile */
	const dt_probe *probe;
	uint64_t period, due; /* nanoseconds */
	struct dt_pe_site *site; /* it samples; NULL: tick, which fires here */
	uint64_t stub;
	uint64_t waiting; /* ticks that have come and not fired */
};
typedef struct dt_pe {
	const struct dt_engine_env *env; /* until go() is over */
	dt_jail *jail;
	dt_options *opts;
	dt_vm_engine *host; /* runs BEGIN and END here */
	dt_vm_scope host_globals; /* its own memory, before it was shared */
	dt_vm_dynvars host_dyn;
	struct dt_pe_memory memory, growth; /* growth: a part of it, for probes that come later */
	struct dt_pe_memory *room;	    /* the one to use now */
	struct dt_pe_program program;
	uint32_t ecbs_cap;
	bool grows; /* probes may come later */
	dt_ecb *waiting; /* ECBs without a probe, of clauses that wait for theirs */
	struct dt_pe_compiler *compiler;
	struct dt_pe_shared *shared; /* in it */
	struct dt_pe_target target;
	dt_maps *maps; /* what it has mapped, when that was last looked at */
	struct dt_pe_files *files;
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
	bool over;  /* the target is left, or has gone */
	bool created; /* the target is a command of -c */
	DT_VEC(struct dt_pe_clock) clocks;
	/* pe_unwind.c */
	DT_VEC(struct dt_pe_object) objects;
	struct dt_pe_code_list code_lists[2]; /* in shared memory; */
	bool code_list;			      /* the one in use */
	uint64_t code_number;
	uint64_t stack_end;
	/* pe_life.c */
	dt_procs *procs;
	dt_vm_person person;
	struct dt_pe_site *birth;
	uint64_t birth_stub;
	bool missed_exec;
	/* pe_grow.c */
	char *gate_path;
	dt_event gate_event;
	uint32_t seen_arrivals;
	uint64_t arrivals, admissions;
	pthread_t clock_thread;
	int clock_fd; /* ends it; -1: it does not run */
	uint64_t *drops, *agg_drops; /* per CPU, for status() */
} dt_pe;

/* ---- process_engine.c ---- */
void dt_pe_end(dt_pe *p); /* leave the target; what is shared is ours from now on */

/* ---- pe_check.c ---- */
bool dt_pe_is_available(void); /* on this CPU */
bool dt_pe_takes(const struct dt_engine_env *env, bool *narrows);
int dt_pe_check_options(const dt_pe *p, dt_error *err);
int dt_pe_check_probes(dt_pe *p, long *pid, dt_error *err); /* *pid: of the process that they are in; 0: none */

/* ---- pe_map.c ---- */
bool dt_pe_place_ecb(dt_pe *p, uint32_t ecb, dt_error *err);
int dt_pe_place_all(dt_pe *p, dt_error *err);
bool dt_pe_sites_make(dt_pe *p);
void dt_pe_look_again(dt_pe *p); /* at what is mapped; what is new is planned */

/* ---- pe_grow.c ---- */
int dt_pe_put(dt_pe *p, dt_error *err);
int dt_pe_extend(dt_pe *p, dt_ecb *ecbs, uint32_t n, dt_error *err);
int dt_pe_gate(dt_pe *p, const char *path, uint64_t offset, long pid, dt_error *err);
uint64_t dt_pe_arrived(dt_pe *p);
void dt_pe_admit(dt_pe *p);
void dt_pe_gate_end(dt_pe *p);

/* ---- pe_calls.c ---- */
bool dt_pe_is_call(const dt_ecb *ecb);
void dt_pe_calls_place(dt_pe *p, dt_error *remark);
void dt_pe_calls_place_in(dt_pe *p, const dt_mapping *m);
bool dt_pe_calls_share(dt_pe *p);

/* ---- pe_life.c ---- */
bool dt_pe_is_life(const dt_ecb *ecb); /* a probe of proc */
bool dt_pe_life_has_args(const dt_ecb *ecb);
bool dt_pe_life_share(dt_pe *p);
int dt_pe_life_stub(dt_pe *p, dt_error *err);
void dt_pe_life_begin(dt_pe *p);
void dt_pe_life_person(dt_pe *p); /* whose clauses run here */
#define DT_PE_EXEC_NS 1000000000ull /* an exec may take so long */
void dt_pe_life_look(dt_pe *p);
void dt_pe_life_stop(dt_pe *p); /* before the target is left; and after that: */
void dt_pe_life_end(dt_pe *p);

/* ---- pe_clock.c ---- */
bool dt_pe_is_clock(const dt_ecb *ecb);
bool dt_pe_is_sampled(const dt_ecb *ecb); /* such a probe fires in threads of the target */
bool dt_pe_clocks_make(dt_pe *p, bool target); /* in shared memory, if there is a target; false: no room */
int dt_pe_clocks_stubs(dt_pe *p, dt_error *err);
void dt_pe_clocks_start(dt_pe *p);
void dt_pe_clocks_stop(dt_pe *p);
bool dt_pe_clocks_fire(dt_pe *p); /* ticks that are due, in the thread of the session; true: there were some */
void dt_pe_clocks_free(dt_pe *p);

/* ---- pe_unwind.c ---- */
uint64_t dt_pe_unwind_read(dt_pe *p); /* tables for walking stacks, if clauses do: their bytes */
void dt_pe_unwind_share(dt_pe *p);
void dt_pe_unwind_again(dt_pe *p); /* other code is mapped */
void dt_pe_unwind_free(dt_pe *p);

/* ---- pe_sample.c ---- */
struct dt_pe_sampler { /* used by one thread */
	struct dt_pe_target *target;
	bool child;		  /* it is ours: its exit is waited for elsewhere */
	DT_VEC(pid_t) late; /* threads that have not stopped yet */
};
void dt_pe_sample(struct dt_pe_sampler *s, uint64_t stub); /* all threads that run fire it */
void dt_pe_sample_late(struct dt_pe_sampler *s);

/* ---- pe_report.c ---- */
void dt_pe_report(void **kept, struct dt_procs *procs, const dt_probe *probe, const dt_attach *at, dt_buf *out);

/* ---- pe_native.c ---- */
bool dt_pe_compile(dt_pe *p); /* the clauses, for sites that have no code yet; false: no memory, or it cannot be written */
void dt_pe_compiler_free(struct dt_pe_compiler *c);

/* ---- slots.c ---- */
uint64_t dt_pe_slots_size(const dt_pe *p); /* bytes that all slots need */
bool dt_pe_slots_make(dt_pe *p);
int dt_pe_slots_consume(dt_pe *p, const dt_sink *sink);
int dt_pe_slots_snapshot(dt_pe *p, const dt_sink *sink);
void dt_pe_slots_status(const dt_pe *p, dt_status *st);
bool dt_pe_slots_quiet(const dt_pe *p); /* no thread is in a probe that it had reached before now */
void dt_pe_slots_free(dt_pe *p);
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

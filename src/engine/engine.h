/*
 * engine: the interface between the engines that run programs (vm, bpf, process) and the consumer.
 *
 * An engine takes enabled clauses and returns records and faults in order of time, and on demand
 * aggregation rows and drop counters. How it stores them is private to it.
 */
#ifndef DT_ENGINE_H
#define DT_ENGINE_H

#include "base/account.h"
#include "dif/dif.h"
#include "probe/probe.h"

/* What is computed at an event before the clauses of a probe run, as finished DIF. */
typedef struct dt_prologue {
	const dt_difo *when;		    /* the probe fires only if this is not 0; NULL: always */
	const dt_difo *arg[DT_ATTACH_ARGS]; /* NULL: 0 */
	bool own;			    /* arg[] does not count: the arguments are the event's own */
} dt_prologue;

/* One event at which a probe fires. */
typedef struct dt_event {
	dt_attach at;
	const dt_prologue *prologue; /* NULL: there is nothing to compute */
} dt_event;
typedef struct dt_events {
	uint32_t n;
	dt_event v[];
} dt_events;

/* An enabled control block: one clause on one probe. epid counts from 1. */
typedef struct dt_ecb {
	uint32_t epid;
	const dt_probe *probe;
	dt_clause *clause;
	const dt_events *events; /* where the probe fires; NULL for an engine that attaches nothing (live is false) */
	struct dt_vm_ecb *front; /* with other machines: what runs the rest of the clause (dt_clause.rest); else NULL */
} dt_ecb;

typedef struct dt_datum {
	const void *data; /* NULL when the action recorded nothing */
	uint32_t size;	  /* strings: up to and including the NUL, or the action's full size */
	uint32_t shown;	  /* of an integer that is a key and kept as 64 bits: its own size; 0: that is `size` */
} dt_datum;

/* A fault: the clause stopped here. */
typedef struct dt_fault {
	uint32_t epid;	 /* the ECB that faulted */
	uint32_t action; /* 0 predicate, else action number from 1 */
	int32_t offset;	 /* DIF offset in bytes, -1 unknown */
	uint32_t code;	 /* DT_FLT_* */
	uint64_t value;	 /* address for BADADDR, BADALIGN, BADSTACK */
	bool absent;	 /* it is one of user memory that was not in memory at that moment */
} dt_fault;
enum { DT_FLT_UNKNOWN, DT_FLT_BADADDR, DT_FLT_BADALIGN, DT_FLT_ILLOP, DT_FLT_DIVZERO,
       DT_FLT_NOSCRATCH, DT_FLT_KPRIV, DT_FLT_UPRIV, DT_FLT_TUPOFLOW, DT_FLT_BADSTACK,
       DT_FLT_LOOPMAX /* a loop had loopmax rounds */, DT_FLT_MAX_,
       DT_FLT_LIBRARY = 1000 };

typedef struct dt_record {
	const dt_ecb *ecb;
	uint32_t cpu;
	uint64_t timestamp;
	const dt_datum *values; /* one per action of the clause: values[i] for actions[i], if it is in this part */
	uint32_t first, nactions; /* the part of the clause that it is: dt_record_part */
	bool continues;		  /* the same firing of the clause as the previous part */
	const dt_fault *fault;	/* not NULL: this is a fault, values is NULL */
} dt_record;

/* Option overhead: what is left out to keep the budget. */
struct dt_shedding {
	uint64_t limit, cost; /* the budget, and what was measured when this last changed: parts per million */
	bool quiet;	      /* printing clauses do not run */
	uint32_t rate;	      /* profile probes fire at 1/rate of their rates */
	uint32_t sample;      /* of the firings of aggregating clauses one in `sample` is evaluated */
	bool ended;	      /* that was not enough */
};

/* Loss and state counters since the start; the consumer prints differences. */
typedef struct dt_status {
	uint64_t *drops;     /* principal buffer, per CPU (ncpus) */
	uint64_t *agg_drops; /* per CPU */
	uint32_t ncpus;
	uint64_t dyn_drops, dyn_rinse_drops, dyn_dirty_drops;
	uint64_t spec_drops, spec_busy, spec_unavail;
	uint64_t stack_overflows, dbl_errors;
	uint64_t shed_printing, shed_sampled; /* firings of clauses: option overhead ... */
	const struct dt_shedding *shedding;   /* ... NULL: not set */
	uint64_t stops;	 /* of processes, option policy */
	uint64_t absent; /* faults because user memory was not in memory */
	bool exiting; /* exit() was called: status in exit_status */
	int exit_status;
	bool filled;  /* fill policy: a buffer is full */
	bool running; /* probes can fire; there will be more */
} dt_status;

typedef struct dt_sink {
	void *arg;
	int (*record)(void *arg, const dt_record *r);
	/* keys: agg->nkeys data; value: agg->nwords words. Additive to what came before. */
	int (*agg)(void *arg, const dt_agg *agg, uint32_t cpu, const dt_datum *keys,
		   const uint64_t *value);
	/* The same for another machine, which pays for what is kept, or is refused; NULL: agg() takes them. */
	int (*far_agg)(void *arg, dt_account *payer, const dt_agg *agg, const dt_datum *keys, const uint64_t *value);
} dt_sink;

/* An enabled clause. Probes may be added to it during tracing (extend): kinds is 1 << enum
 * dt_attach_kind of them, 0: never. */
struct dt_engine_clause {
	dt_clause *clause;
	uint32_t kinds;
};

struct dt_engine_env {
	dt_options *opts; /* an engine lowers a size if it gets less */
	dt_types *types;
	dt_ecb *ecbs;
	uint32_t necbs;
	const struct dt_engine_clause *clauses; /* all of them, in the order of the program, as the ecbs are */
	uint32_t nclauses;
	dt_kfuncs *kfuncs;	/* the kernel's functions */
	struct dt_procs *procs; /* the processes of the session; NULL: none */
	struct dt_fleet *fleet; /* other machines; NULL: none */
	dt_clause *const *rests; /* vm: clauses for dt_vm_front_run() */
	uint32_t nrests;
	dt_progress *progress;	/* of opening it, and of go(); NULL: it is not shown */
	bool whole; /* process: a probe that cannot be placed refuses the program, which another engine can run */
	bool eager; /* the first record after consume() has found none makes wake_fd readable, if the engine can do that */
	void (*ready)(void *arg); /* called by go() of a live engine when all is attached and nothing may fire yet; NULL: not */
	void *ready_arg;
};

typedef struct dt_engine dt_engine; /* opaque: a dt_vm_engine (vm), a dt_bpf (bpf), a dt_pe (process) */
struct dt_engine_ops {
	const char *name;
	dt_engine *(*open)(const struct dt_engine_env *env, dt_error *err);
	int (*go)(dt_engine *e, dt_error *err);	  /* enable; BEGIN runs. 0 and a text in *err: a remark */
	/* Disable all probes but END, so that its record has room once the others have been read. NULL: stop() does it. */
	void (*halt)(dt_engine *e);
	int (*stop)(dt_engine *e, dt_error *err); /* halt, if that was not done; END runs */
	int (*status)(dt_engine *e, dt_status *st);
	int (*consume)(dt_engine *e, const dt_sink *sink);  /* records so far, then forget them */
	/* Aggregation rows, then zero them. Rows that cannot be read now are kept for the next
	 * time; at the end that is an error. */
	int (*snapshot)(dt_engine *e, const dt_sink *sink, dt_error *err);
	/* While it runs: new ECBs of clauses whose kinds are not 0. The caller keeps them in place
	 * until close(). ECBs that cannot be enabled are skipped; then it returns -1, and *err
	 * gives the reason for one of them. NULL: not supported. */
	int (*extend)(dt_engine *e, dt_ecb *ecbs, uint32_t n, dt_error *err);
	/* A process that reaches this place waits there briefly until it is admitted: arrived()
	 * returns how many have come so far, admit() lets the first n of them continue. wake_fd
	 * becomes readable when one has come. */
	int (*gate)(dt_engine *e, const char *path, uint64_t offset, long pid, dt_error *err);
	uint64_t (*arrived)(const dt_engine *e);
	long (*comer)(const dt_engine *e, uint64_t n); /* the pid of number n (from 1); 0: not known any more */
	void (*admit)(dt_engine *e, uint64_t n);
	/* Option follow: this process is a child of that one; probes in the parent are also in it. A process
	 * that is its own parent begins a family. */
	void (*adopt)(dt_engine *e, long pid, long parent);
	/* The process has exited: release what is attached only to it. May be NULL. */
	void (*retire)(dt_engine *e, long pid);
	/* After every wake-up: acknowledge it, and supply what programs have requested. True: a
	 * buffer is filling up, and should be read before switchrate has passed. NULL: nothing to
	 * do. */
	bool (*attend)(dt_engine *e);
	/* Was it opened eager? Then: is it awake, that is, may there be records? It sleeps when consume() has found none. NULL: it
	 * cannot be eager. */
	bool (*is_eager)(const dt_engine *e, bool *awake);
	/* A descriptor that becomes readable when exit() or a full buffer ends tracing; -1: none. */
	int (*wake_fd)(const dt_engine *e);
	/* Are all probes in one process, so that it can run the program? *narrows: only some; the others are of all processes
	 * elsewhere, and of this one here. Only for an engine that enters processes. */
	bool (*takes)(const struct dt_engine_env *env, bool *narrows);
	/* How it would put a probe into the code of its process, and where: a line for each event, or the reason why not. *kept is its
	 * own, NULL at first; freed with `probe` NULL. NULL: there is nothing to say. */
	void (*places)(void **kept, struct dt_procs *procs, const dt_probe *probe, const dt_attach *at, dt_buf *out);
	bool enters; /* it stops the processes of -p by itself, for moments; those of -c are held until go() is over */
	bool live; /* false: after go() nothing can fire until stop() (vm) */
	void (*close)(dt_engine *e);
};
extern const struct dt_engine_ops dt_engine_vm, dt_engine_bpf, dt_engine_process;

#endif

/*
 * plan: what the kernel will run, decided from the enabled clauses and probes: distinct clauses and
 * probes, how each value is recorded, the variables and their types, and the programs that serve
 * the probes.
 *
 * The stages of the engine; each gets the results of the previous ones as const:
 *
 *	plan	what is enabled					plan.h
 *	needs	what its code will need, learned by making it once	needs.h
 *	layout	the offset of everything				layout.h
 *	code	DIF as eBPF					translate/translate.h
 *	objects	maps and programs in the kernel			run/bpf_engine.h
 *	links	programs attached to events			run/attaching.h
 *
 * A plan changes after it is made in few cases: learning finds that a program is too large and
 * splits it (dt_plan_split), and probes are added during tracing (extend.c). Functions that turn
 * out at attach time not to be able to call a program directly are planned again another way
 * (attach_kernel.c).
 */
#ifndef DT_BPF_PLAN_PLAN_H
#define DT_BPF_PLAN_PLAN_H

#include "bpf/plan/kinds.h"
#include "engine/engine.h"
#include "engine/record_plan.h"
#include "kernel/features.h"

/* How a program is called by kernel functions (attach_kernel.c). */
enum dt_plan_how { HOW_KPROBE, HOW_MULTI, HOW_FENTRY };

/* Probes of one kind and group can share a program. */
struct dt_plan_group {
	uint32_t nargs;	       /* tracepoints: a program must not read more than each of them has */
	uint32_t event;	       /* tracepoints: which one, from 1; 0: any (plan_event.c) */
	uint32_t task_arg;     /* as in dt_attach */
	uint32_t prologues;    /* which program among those with prologues, from 1; 0: without */
	enum dt_plan_how how;  /* functions of the kernel */
	uint32_t joined;       /* a group added during tracing, from 1 (extend.c) */
};

struct dt_plan_probe {
	const dt_probe *probe;
	enum dt_probe_kind kind;
	uint32_t event; /* system call number, or index among the probes of its kind */
	struct dt_plan_group group;
	uint32_t nargs;	   /* tracepoints */
	uint32_t prologue; /* index into the prologues, plus 1; 0: the event's own arguments */
	bool more;	   /* the next one is the same probe at another event */
	dt_attach at;
};

/* ---- clauses ---- */
struct dt_plan_agg;
struct dt_plan_action { /* beside each dt_action */
	const struct dt_action_plan *what; /* its role, the same in both engines */
	uint32_t offset;		   /* DATA: in the record; strings: where the u32 offset of the text is */
	const struct dt_plan_agg *agg;	   /* KEY and AGG */
};

struct dt_plan_part { /* beside each dt_record_part */
	uint32_t fixed;	 /* bytes before the strings */
	uint32_t size;	 /* the largest it can be; 0: records nothing */
	bool has_strings;
};

struct dt_plan_clause {
	dt_clause *c;
	dt_record_plan record;	     /* what is in it and what it costs */
	struct dt_plan_action *plan; /* where we put that */
	const dt_ecb **ecbs; /* by probe index; NULL: not enabled there. On the heap, ecb_room of them */
	uint32_t grow_kinds; /* 1 << enum dt_probe_kind: it may get more of these during tracing */
	struct dt_plan_part *parts;
	uint32_t *bodies;    /* of its functions, by number: index, UINT32_MAX: none; NULL: there are none */
	uint32_t size;	     /* of the largest part; 0: records nothing */
	uint32_t kinds; /* 1 << enum dt_probe_kind */
	enum { DT_SHED_NEVER, DT_SHED_PRINTING, DT_SHED_SAMPLED } shed; /* plan_shedding.c */
};

/* A function that clauses have as blocks: bodies.c. */
struct dt_plan_body {
	uint32_t clause;	/* one that has it, and where: */
	uint32_t first, last;	/* actions; the last is RETURN */
	uint32_t part, nparts;	/* of the record */
	uint32_t loop, nloops;	/* the number of its first loop, how many it has */
	uint32_t rounds;	/* where the words of its loops begin, among those of all bodies */
	uint32_t alike;		/* another one that begins the same way, plus 1 */
};

/* ---- user variables ---- */
struct dt_plan_var {
	bool seen, byref, user, string, array;
	uint32_t size; /* by reference: bytes of the object */
};
struct dt_plan_scope {
	struct dt_plan_var *v; /* index: id - DT_VAR_USER_MIN */
	uint32_t n;
};
enum { DT_PLAN_SCOPES = 3 }; /* DT_SCOPE_GLOBAL, DT_SCOPE_THREAD, DT_SCOPE_LOCAL */

/* ---- aggregations ---- */
struct dt_plan_agg {
	const dt_agg *agg;
	uint32_t index;
	uint32_t nkeys;
	struct dt_plan_aggkey {
		const dt_action *action;
		uint32_t offset, size;
		bool is_string;
		bool mixed; /* integers of several sizes: kept as 64 bits; the first word of the value says which */
		int name; /* 0..3: a part of the probe's name, kept as its index; -1: not */
	} * keys;
	uint32_t key_size; /* with the generation before; 0: it has no rows of its own, but a place in dt_aggs */
	uint32_t nwords;
	uint32_t home;	  /* the aggregation (index) that has the map: itself or another */
	uint32_t member;  /* which one of that map; 0: home itself */
	uint32_t members; /* of home: how many others are there */
};

/* ---- programs ---- */
struct dt_plan_prog {
	enum dt_probe_kind kind;
	struct dt_plan_group group; /* for probes of this group ... */
	uint32_t only;		    /* ... or only this probe (index); UINT32_MAX: any */
	uint32_t *clauses;	    /* indices, in order */
	uint32_t nclauses;
	bool prologues;	   /* its probes have them: arguments are in the slot */
	bool rest;	   /* of one that was too large, which is before it */
	bool lazy;	   /* for probes that may be added: loaded with the first one */
	uint32_t whole;	   /* the same for all parts of one that was too large: index into dt_plan_needs.used */
};

/* ---- buffers ---- */
struct dt_plan_buffers {
	enum dt_opt_bufpolicy policy;
	uint64_t size;	      /* bufsize, rounded */
	uint64_t end_reserve; /* fill policy: of these, for END */
	bool small;	      /* kept to the byte: tr_buffer.c */
	bool eager;	      /* the first record wakes the consumer */
	bool lossless;	      /* processes are stopped when it fills: tr_lossless.c */
};

/* What the kernel can do: features.h */
#define dt_plan_can(p, what) dt_feature(&(p)->features, DT_FEATURE_##what)

typedef struct dt_plan {
	dt_options *opts;
	dt_types *types; /* NULL: none */
	dt_kfuncs *kfuncs;
	dt_arena *arena;
	struct dt_features features;
	uint64_t strsize; /* bytes of a string with its NUL: one more than the option */
	uint32_t ncpus, nspecs;
	struct dt_plan_buffers buffers;
	bool grows;   /* probes can be added during tracing */
	bool budget;  /* option overhead: plan_shedding.c */
	bool follows; /* option follow: run/family.c */
	bool returns; /* programs at a ret carry it out: translate/tr_return.c */
	DT_VEC(struct dt_plan_probe) probes;
	DT_VEC(dt_prologue) prologues;
	uint32_t nevents[PK_MAX]; /* probes of each kind; system calls have their numbers instead */
	DT_VEC(struct dt_plan_clause) clauses;
	DT_VEC(struct dt_plan_agg *) aggs;
	DT_VEC(struct dt_plan_body) bodies;
	uint32_t nbody_loops; /* of all of them */
	uint32_t max_actions; /* of a clause */
	bool has_error;	      /* there are ERROR clauses */
	struct dt_plan_scope vars[DT_PLAN_SCOPES];
	DT_VEC(struct dt_plan_prog) progs;
	uint32_t nwhole; /* programs before any was split */
	/* plan_probe.c */
	dt_map *seen; /* id of a probe -> its index plus 1 */
	uint32_t ecb_room;
	uint32_t njoined; /* groups added during tracing: extend.c */
} dt_plan;

int dt_plan_make(dt_plan *p, const struct dt_engine_env *env, uint32_t ncpus, dt_error *err);
void dt_plan_free(dt_plan *p);

/* ---- plan_shedding.c ---- */
void dt_plan_shedding(dt_plan *p);

/* ---- bodies.c ---- */
void dt_plan_bodies(dt_plan *p);

/* ---- plan_probe.c ---- */
/* The index of the ECB's probe (of the first of its events), added if it is new. */
uint32_t dt_plan_probe_index(dt_plan *p, const dt_ecb *ecb);
void dt_plan_set_ecb(dt_plan *p, uint32_t clause, uint32_t probe, const dt_ecb *ecb); /* at all its events */
void dt_plan_ecb_room(dt_plan *p);
bool dt_plan_same_group(const struct dt_plan_group *a, const struct dt_plan_group *b);

/* ---- plan_prologue.c ---- */
/* Its index among the prologues, plus 1; probes of equal DIF share one. */
uint32_t dt_plan_prologue_add(dt_plan *plan, const dt_prologue *p);

/* ---- plan_function.c: how each function of the kernel is traced ---- */
int dt_plan_functions(dt_plan *p, dt_error *err);

/* ---- plan_event.c: tracepoints that can interrupt each other ---- */
void dt_plan_events(dt_plan *p);

/* ---- plan_var.c ---- */
void dt_plan_vars(dt_plan *p);
const struct dt_plan_var *dt_plan_var_find(const dt_plan *p, int scope, uint32_t id); /* or NULL */

/* ---- programs.c ---- */
void dt_plan_programs(dt_plan *p);
/* Programs for the probes like this one; only for it if `alone`. */
void dt_plan_add_programs(dt_plan *p, uint32_t probe, bool alone);
/* Is this probe served by the program? */
bool dt_plan_serves(const dt_plan *plan, const struct dt_plan_prog *p, uint32_t probe);
/* Is it enabled with any of the program's clauses? */
bool dt_plan_is_on(const dt_plan *plan, const struct dt_plan_prog *p, uint32_t probe);
/* Is it called by the function itself (fentry, fexit)? If so, it has one probe and no registers. */
static inline bool dt_plan_is_direct(const struct dt_plan_prog *p)
{
	return dt_kind_is_function(p->kind) && p->group.how == HOW_FENTRY;
}
/* If the program is too large for the kernel, or would load too slowly: split it in half, and
 * return true. `shared`: of its instructions, those that both halves would have. */
bool dt_plan_split(dt_plan *p, uint32_t prog, uint32_t insns, uint32_t shared, uint32_t functions);
bool dt_plan_continues(const dt_plan *p, uint32_t prog);    /* continues a firing that the previous program began */
bool dt_plan_is_continued(const dt_plan *p, uint32_t prog); /* by the next one */
bool dt_plan_has_rest(const dt_plan *p, uint32_t prog);	    /* called by it or not */
uint32_t dt_plan_nth_to_attach(const dt_plan *p, uint32_t n);

#endif

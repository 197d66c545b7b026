/*
 * bpf_engine: the kernel engine: the results of its stages, and the state of each file that works
 * with the kernel.
 *
 *   bpf_engine.c     the engine interface
 *   kmap.c           one map, one small program;  bpf_maps.c: all maps of a plan
 *   cpu_buffers.c    the buffers that records go to;  names.c: names of probes that may be added
 *   load.c           loads programs into the kernel
 *   attach.c         programs to events;  attach_user.c: to places in user code;  attach_kernel.c: to
 *                    functions of the kernel;  family.c: processes that a probe follows
 *   ring.c           reads records from the ring buffers;  tail.c: from the circles of the ring policy
 *   lossless.c       processes that are stopped while a buffer is full
 *   overhead.c       option overhead: what the programs cost, and what is left out
 *   kept.c           records that are kept: speculations, the newest ones
 *   snapshot.c       reads aggregations from their maps
 *   tables.c         unwind tables for the walker of user stacks
 *   extend.c         probes added during tracing;  gate.c: where processes wait for that
 *   sites.c          tries in our own code: is a trap or a call cheaper? may programs change registers?
 *
 * A member whose comment names a file belongs to that file, which alone defines and changes what it
 * points to.
 */
#ifndef DT_BPF_RUN_BPF_ENGINE_H
#define DT_BPF_RUN_BPF_ENGINE_H

#include "bpf/translate/translate.h"

/* A program in the kernel; beside the one of the plan. */
struct dt_loaded {
	int fd;	       /* -1: not loaded */
	uint32_t typed; /* as in dt_tr, when its code was made */
	uint8_t *rows; /* places in user code: its table, mapped (attach_user.c) */
	bool loading;  /* extend.c */
};

typedef struct dt_bpf {
	/* what each stage has made */
	dt_plan plan;
	dt_plan_needs needs;
	struct dt_plan_layout at;
	struct dt_rodata ro;
	struct dt_tr_loads loads; /* load.c */
	/* objects in the kernel: bpf_maps.c, load.c */
	struct dt_tr_maps maps;
	DT_VEC(struct dt_prog_maps) prog_maps;
	DT_VEC(struct dt_loaded) loaded;
	struct dt_agg_map *agg_maps; /* by aggregation */
	DT_VEC(int) fds;	     /* of all maps and small programs, to close */
	struct {
		uint8_t *control, *cpus; /* mapped */
		uint8_t *refused; /* updates of aggregations: snapshot.c; NULL: there are none */
		uint8_t *aggs;	  /* rows of aggregations without keys: the same */
	} shared;
	struct dt_procs *procs; /* of the session; NULL: none */
	dt_progress *progress;	/* the same */
	void (*ready)(void *arg); /* the same */
	void *ready_arg;
	/* state of one file each */
	struct dt_links *links;		     /* attach.c */
	struct dt_function_links *functions; /* attach_kernel.c */
	struct dt_user_links *users;	     /* attach_user.c */
	struct dt_retired *retired;	     /* extend.c */
	struct dt_reader *reader;	     /* ring.c */
	struct dt_kept *kept;		     /* kept.c */
	struct dt_tables *tables;	     /* tables.c; NULL: no program walks user stacks */
	struct dt_names *names;		     /* names.c; NULL: all probes are known */
	struct dt_overhead *overhead;	     /* overhead.c; NULL: none */
	struct dt_lossless *lossless;	     /* lossless.c; NULL: nothing is stopped */
	int gate;			     /* gate.c: its program; -1: not loaded */
	enum { SITES_UNKNOWN, SITES_TRAP, SITES_CALL } sites; /* sites.c */
	/* running: bpf_engine.c */
	enum { BPF_NEW, BPF_RUNNING, BPF_HALTED /* END is still to come */, BPF_STOPPED } state;
	uint32_t begin_cpu;
	uint64_t *drops, *agg_drops; /* per CPU, for status */
	bool drained;		     /* snapshot.c: the aggregations have been read after tracing ended */
} dt_bpf;

static inline struct dt_tr_input dt_bpf_input(const dt_bpf *e)
{
	return (struct dt_tr_input){.plan = &e->plan,
				    .need = &e->needs,
				    .at = &e->at,
				    .maps = &e->maps,
				    .ro = &e->ro,
				    .loads = e->loads};
}

/* Words that programs also read and write. */
static inline uint64_t *dt_control(const dt_bpf *e, uint32_t field)
{
	return (uint64_t *)(void *)(e->shared.control + field);
}
static inline uint64_t *dt_cpu_word(const dt_bpf *e, uint32_t cpu, uint32_t field)
{
	return (uint64_t *)(void *)(e->shared.cpus + (uint64_t)cpu * CPU_SIZE + field);
}

#endif

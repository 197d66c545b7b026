/*
 * ring: reads records and aggregations from the kernel.
 */
#ifndef DT_BPF_RUN_RING_H
#define DT_BPF_RUN_RING_H

#include "bpf/run/bpf_engine.h"

int dt_rings_map(dt_bpf *e, dt_error *err);
void dt_rings_free(dt_bpf *e);
bool dt_ring_attend(dt_bpf *e); /* see the engine's interface */
bool dt_ring_is_eager(const dt_bpf *e, bool *awake);
int dt_ring_consume(dt_bpf *e, const dt_sink *sink);
/* Wait for every firing now in progress; false: it took longer than these nanoseconds. */
bool dt_ring_quiesce(dt_bpf *e, uint64_t patience);
#define DT_RING_PATIENCE      1000000000ull /* during tracing */
#define DT_RING_LAST_PATIENCE 10000000000ull

/* What a record takes of bufsize. */
uint32_t dt_ring_cost(const dt_bpf *e, const struct dt_rec *r);

/* ---- lossless.c: option policy ---- */
int dt_lossless_begin(dt_bpf *e, dt_error *err);
void dt_lossless_continue(dt_bpf *e); /* the buffers have room again */
void dt_lossless_end(dt_bpf *e);      /* nothing can fire any more */
void dt_lossless_free(dt_bpf *e);
uint64_t dt_lossless_stops(const dt_bpf *e);

/* ---- kept.c: records that are kept ---- */
struct dt_kept_rec {
	struct dt_kept_rec *next;
	uint64_t time; /* its time; of a speculative record, that of its commit */
	uint32_t cpu, size;
	struct dt_rec rec[];
};
struct dt_kept *dt_kept_new(uint32_t ncpus, uint32_t nspecs);
void dt_kept_free(struct dt_kept *k);
/* A record of a speculation. */
void dt_kept_speculate(dt_bpf *e, const struct dt_rec *r, uint32_t size, uint32_t cpu);
/* The speculation has ended: the next of its records, which the caller frees; NULL: no more. */
struct dt_kept_rec *dt_kept_end(dt_bpf *e, const struct dt_rec *marker);
uint64_t dt_kept_drops(const dt_bpf *e); /* of speculative records */
/* The ring policy: what was committed, the newest bufsize bytes of each CPU. */
void dt_kept_newest(dt_bpf *e, const struct dt_rec *r, uint32_t size, uint32_t cpu, uint64_t time);
const struct dt_kept_rec *dt_kept_of_cpu(const dt_bpf *e, uint32_t cpu);

/* ---- tail.c ---- */
struct dt_tail;
struct dt_tail *dt_tail_map(dt_bpf *e, dt_error *err); /* of all CPUs; NULL with *err */
void dt_tail_free(dt_bpf *e, struct dt_tail *t);
void dt_tail_read(const dt_bpf *e, const struct dt_tail *t, uint32_t cpu,
		  void (*each)(void *arg, const struct dt_rec *r, uint32_t size), void *arg);

/* ---- snapshot.c ---- */
int dt_snapshot(dt_bpf *e, const dt_sink *sink, dt_error *err);

/* ---- tables.c ---- */
int dt_tables_create(dt_bpf *e, dt_error *err);
void dt_tables_feed(dt_bpf *e); /* make the tables that walks have missed */
void dt_tables_preload(dt_bpf *e);
void dt_tables_free(dt_bpf *e);

#endif

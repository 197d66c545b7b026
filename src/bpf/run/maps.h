/*
 * maps: the maps of a plan.
 */
#ifndef DT_BPF_RUN_MAPS_H
#define DT_BPF_RUN_MAPS_H

#include "bpf/run/bpf_engine.h"

/* Of an aggregation with keys. */
struct dt_agg_map {
	uint64_t rows; /* that the map can hold */
	bool pool;     /* they are allocated on demand */
};

int dt_kmaps_create(dt_bpf *e, dt_error *err);
int dt_kmaps_rodata(dt_bpf *e, dt_error *err); /* a map of what there is so far */
void dt_kmaps_fill_pools(dt_bpf *e);
/* As many entries for programs as the plan has. */
void dt_kmaps_add_programs(dt_bpf *e);
void dt_kmaps_free(dt_bpf *e);

/* ---- cpu_buffers.c ---- */
int dt_kmaps_buffers(dt_bpf *e, dt_error *err);
bool *dt_kmaps_online_cpus(uint32_t n); /* which of the first n CPUs are on; on the heap */

/* ---- names.c: data about probes, if more can be added ---- */
int dt_names_make(dt_bpf *e, dt_error *err);
int dt_names_add(dt_bpf *e, uint32_t first, dt_error *err); /* from this probe on */
void dt_names_free(dt_bpf *e);

#endif

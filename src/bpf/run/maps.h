/*
 * maps: the maps of a plan.
 */
#ifndef DT_BPF_RUN_MAPS_H
#define DT_BPF_RUN_MAPS_H

#include "bpf/run/bpf_engine.h"

/* Of an aggregation with keys. */
struct dt_agg_map {
	uint64_t rows; /* that the map can hold */
	bool pool;     /* they are allocated when they are made */
};

int dt_kmaps_create(dt_engine *e, dt_error *err);
int dt_kmaps_rodata(dt_engine *e, dt_error *err); /* a map of what there is so far */
void dt_kmaps_fill_pools(dt_engine *e);
/* As many entries for programs as the plan has. */
void dt_kmaps_add_programs(dt_engine *e);
void dt_kmaps_free(dt_engine *e);

/* ---- cpu_buffers.c ---- */
int dt_kmaps_buffers(dt_engine *e, dt_error *err);
bool *dt_kmaps_online_cpus(uint32_t n); /* which of the first n CPUs are on; on the heap */

/* ---- names.c: what programs know of probes, if more can join ---- */
int dt_names_make(dt_engine *e, dt_error *err);
int dt_names_add(dt_engine *e, uint32_t first, dt_error *err); /* from this probe on */
void dt_names_free(dt_engine *e);

#endif

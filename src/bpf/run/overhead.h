/*
 * overhead: option overhead, see overhead.c.
 */
#ifndef DT_BPF_RUN_OVERHEAD_H
#define DT_BPF_RUN_OVERHEAD_H

#include "bpf/run/bpf_engine.h"

int dt_overhead_begin(dt_bpf *e, dt_error *err); /* before anything is attached */
void dt_overhead_check(dt_bpf *e);	       /* as often as there is an opportunity */
void dt_overhead_free(dt_bpf *e);
/* A profile probe's event, whose rate may be lowered; there is a budget, which closes it. */
void dt_overhead_keep(dt_bpf *e, int event, uint64_t period);
const struct dt_shedding *dt_overhead_state(const dt_bpf *e); /* NULL: there is none */

#endif

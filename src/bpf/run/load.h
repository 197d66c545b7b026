/*
 * load: loads programs into the kernel.
 */
#ifndef DT_BPF_RUN_LOAD_H
#define DT_BPF_RUN_LOAD_H

#include "bpf/run/bpf_engine.h"

int dt_load_all(dt_bpf *e, dt_error *err);
int dt_load_program(dt_bpf *e, uint32_t prog, dt_error *err);
/* Why bpf() failed (errno): "cannot DOING the kernel". Returns -1. */
int dt_load_error(dt_error *err, const char *doing);

#endif

/*
 * direct_map: where the kernel sees all memory, for programs that read what is not mapped in.
 */
#ifndef DT_BPF_RUN_DIRECT_MAP_H
#define DT_BPF_RUN_DIRECT_MAP_H

#include "bpf/run/bpf_engine.h"

void dt_direct_map_find(dt_bpf *e); /* if programs have a use for it; sets CTL_DIRECT ... CTL_LIMIT */

#endif

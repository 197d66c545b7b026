/*
 * direct_map: the kernel's direct map, for programs that read memory that is not mapped in.
 */
#ifndef DT_BPF_RUN_DIRECT_MAP_H
#define DT_BPF_RUN_DIRECT_MAP_H

#include "bpf/run/bpf_engine.h"

void dt_direct_map_find(dt_bpf *e); /* if programs need it; sets CTL_DIRECT ... CTL_LIMIT */

#endif

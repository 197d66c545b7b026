/*
 * kcode: the machine code of one kernel function, read from memory and decoded: where its
 * instructions begin (kinst), and where it returns (fbt).
 */
#ifndef DT_KERNEL_KCODE_H
#define DT_KERNEL_KCODE_H

#include "arch/insn.h"
#include "kernel/kfunc.h"

#define DT_KCODE_MAX (256u << 10) /* no function is longer */

typedef struct dt_kcode {
	uint64_t addr;
	uint8_t *bytes;
	size_t n;
	dt_body body;
	uint32_t ninsns; /* without the padding at the end */
} dt_kcode;

/* Of a function by its index in dt_kfuncs_all(); -1 and a part of a sentence. */
int dt_kcode_read(dt_kfuncs *kf, uint32_t index, dt_kcode *c, char *why, size_t whylen);
void dt_kcode_free(dt_kcode *c);

/* Places in vmlinux that cannot be probed (kplaces.c): those that the kernel itself rewrites (jumps that are
 * switched on and off, calls whose target changes), and on some CPUs those where it expects faults. */
typedef struct dt_kplaces {
	DT_VEC(uint64_t) addrs; /* in order */
} dt_kplaces;
dt_kplaces *dt_kplaces_read(dt_ksyms *ks);
void dt_kplaces_free(void *places);
bool dt_kplaces_has(const dt_kplaces *p, uint64_t addr);

/* The offset of the instruction by which the function returns, if there is only one; 0: there are
 * several, or it ends by jumping to another function, or its code cannot be read. */
uint32_t dt_kcode_return(dt_kfuncs *kf, dt_types *ts, uint32_t index);

#endif

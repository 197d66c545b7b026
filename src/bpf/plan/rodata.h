/*
 * rodata: the value of one frozen map: constant strings, tables of probes and events, and zeros to
 * copy from. Strings are collected while learning; the layout adds the rest.
 */
#ifndef DT_BPF_PLAN_RODATA_H
#define DT_BPF_PLAN_RODATA_H

#include "base/base.h"

struct dt_rodata {
	dt_buf data;
	dt_map *pool; /* text -> offset + 1 */
};

void dt_rodata_init(struct dt_rodata *r);
void dt_rodata_free(struct dt_rodata *r);
/* The offset of a NUL-terminated string, which is added if it is new. */
uint32_t dt_rodata_string(struct dt_rodata *r, const char *s);
/* The same for an existing one; UINT32_MAX: not found. */
uint32_t dt_rodata_find(const struct dt_rodata *r, const char *s);
/* Adds these bytes and returns their offset; what follows is aligned to 8. */
uint32_t dt_rodata_add(struct dt_rodata *r, const void *data, size_t size);

#endif

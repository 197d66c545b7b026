/*
 * code_listing: code as text.
 */
#ifndef DT_BPF_CODE_LISTING_H
#define DT_BPF_CODE_LISTING_H

#include "bpf/code/slot.h"

/* All of it as the kernel sees it, one instruction per line with its position. */
void dt_code_print(const dt_code *c, dt_buf *out);

struct dt_code_name {
	int number;
	const char *name; /* NULL: the end of the list */
};
struct dt_code_names {
	const struct dt_code_name *slot; /* by offset */
	const struct dt_code_name *maps; /* by descriptor */
	int fields_of;			 /* the value of this map ... */
	const struct dt_code_name *fields; /* ... has these fields, by offset */
};
/* Finished instructions from `from` up to `to`, with labels, names of helpers, maps, and parts of the slot. */
void dt_code_list(const dt_code *c, uint32_t from, uint32_t to, const struct dt_code_names *names,
		  dt_buf *out);

#endif

/*
 * counter: shared by the rows of vminfo and sysinfo. Their probes are counters of the kernel: arg0
 * is the increment, arg1 would be the address of the counter (Linux has one for each CPU, and none
 * for most: 0).
 */
#ifndef DT_COUNTER_H
#define DT_COUNTER_H

#include "probe/providers/stable.h"

#define COUNTER	    .args = {{0, "uint64_t"}, {1, "uint64_t *"}}
#define COUNT(text) .arg = {text}

/* block_bio_queue(bio), with the condition; the operation is the low byte: read 0, write 1 */
#define READ		    "(args[0]->bi_opf & 0xff) == 0"
#define WRITE		    "(args[0]->bi_opf & 0xff) == 1"
#define BIO(condition, ...) AT(TRACEPOINT, "block_bio_queue", .when = condition, __VA_ARGS__)

/* The first page of a bio, or the head of its compound page. */
#define FIRST "args[0]->bi_io_vec->bv_page"
#define HEAD  "((struct page *)((" FIRST "->compound_head & 1) ? " FIRST "->compound_head - 1 : (uint64_t)" FIRST "))"

/* DTrace's stability of vminfo and sysinfo. */
#define COUNTER_STABILITY                                                                          \
	{                                                                                          \
		DT_ATTR(EVOLVING, EVOLVING, ISA), DT_ATTR(PRIVATE, PRIVATE, UNKNOWN),              \
		    DT_ATTR(PRIVATE, PRIVATE, UNKNOWN), DT_ATTR(EVOLVING, EVOLVING, ISA),          \
		    DT_ATTR(PRIVATE, PRIVATE, ISA)                                                 \
	}

#endif

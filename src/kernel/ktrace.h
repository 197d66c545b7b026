/*
 * ktrace: how this kernel lets its own functions be traced. Providers ask, to say what is
 * missing.
 */
#ifndef DT_KERNEL_KTRACE_H
#define DT_KERNEL_KTRACE_H

#include "type/type.h"

struct dt_ktrace {
	bool kprobe;   /* one function or instruction at a time, by perf events */
	bool multi;    /* any number of functions with one link (kprobe.multi, CONFIG_FPROBE) */
	bool fentry;   /* a program of its own for each function, called directly */
	char why[200]; /* why none of these: one sentence, or "" */
};

/* Tried, each time it is called: a few hundred microseconds. */
void dt_ktrace_probe(struct dt_ktrace *k, dt_types *ts);

#endif

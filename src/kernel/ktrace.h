/*
 * ktrace: the methods by which this kernel allows its functions to be traced. Providers use this to
 * say what is missing, the engine to choose a method.
 */
#ifndef DT_KERNEL_KTRACE_H
#define DT_KERNEL_KTRACE_H

#include "type/type.h"

struct dt_ktrace {
	bool kprobe;   /* one function or instruction at a time, by perf events */
	bool multi;    /* any number of functions with one link (kprobe.multi, CONFIG_FPROBE) */
	bool fentry;   /* a separate program for each function, called directly */
	char why[200]; /* why none of these: one sentence, or "" */
};

/* Probes the kernel at each call: a few hundred microseconds. */
void dt_ktrace_probe(struct dt_ktrace *k, dt_types *ts);
/* Can a program be called directly when this function is entered (exit: when it returns)? module NULL: vmlinux. */
bool dt_ktrace_takes_fentry(dt_types *ts, const char *module, const char *name, bool exit);
/* A descriptor of the type information of a module; 0: of vmlinux, -1: none. */
int dt_ktrace_module_btf(const char *module);
/* The type of a kind of perf events ("kprobe", "uprobe"); -1: this kernel has none of that name. */
int dt_perf_type(const char *name);

#endif

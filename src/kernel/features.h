/*
 * features: what this kernel supports, and our pid namespace. Determined once, when a program is
 * planned, and const from then on.
 */
#ifndef DT_KERNEL_FEATURES_H
#define DT_KERNEL_FEATURES_H

#include "kernel/ktrace.h"

struct dt_features {
	bool btf;	   /* it has type information */
	bool reads;	   /* programs may read its memory by helpers: not in lockdown (confidentiality) */
	bool compat;	   /* 32-bit programs can run */
	bool third_abi;	   /* so can those of a third interface: dt_arch.entry.number_bit */
	bool storage;	   /* task storage is always found (Linux 6.2): thread.c */
	bool cookies;	   /* raw tracepoints have cookies (Linux 6.10) */
	bool uprobe_multi; /* places in user code: many with one link, all threads of a process (Linux 6.10) */
	struct dt_ktrace functions;
	uint64_t pidns_dev, pidns_ino; /* 0: the initial pid namespace */
};

/* `user`, `functions`: whether there are probes in user code and on kernel functions. Their
 * features take time to probe, and are false otherwise. */
void dt_features_find(struct dt_features *f, bool user, bool functions, dt_types *ts);

#endif

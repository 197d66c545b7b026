/*
 * features: what this kernel supports, and our pid namespace.
 *
 * A feature is probed by trying it, which takes time; so it is probed when it is first needed, and
 * programs that do not need it pay nothing. The result is kept.
 */
#ifndef DT_KERNEL_FEATURES_H
#define DT_KERNEL_FEATURES_H

#include "kernel/ktrace.h"

enum dt_feature {
	DT_FEATURE_BTF,		 /* it has type information */
	DT_FEATURE_READS,	 /* programs may read its memory by helpers: not in lockdown (confidentiality) */
	DT_FEATURE_COMPAT,	 /* 32-bit programs can run */
	DT_FEATURE_THIRD_ABI,	 /* so can those of a third interface: dt_arch.entry.number_bit */
	DT_FEATURE_STORAGE,	 /* task storage is always found (Linux 6.2): thread.c */
	DT_FEATURE_COOKIES,	 /* raw tracepoints have cookies (Linux 6.10) */
	DT_FEATURE_UPROBE_MULTI, /* places in user code: many with one link, all threads of a process (Linux 6.10) */
	DT_FEATURE_MAY_GOTO,	 /* jumps back that the kernel bounds (Linux 6.9): tr_flow.c */
	DT_FEATURES
};

struct dt_features {
	uint8_t *answers; /* by feature: DT_ANSWER_* */
	struct dt_ktrace functions;
	uint64_t pidns_dev, pidns_ino; /* 0: the initial pid namespace */
};
enum { DT_ANSWER_UNKNOWN, DT_ANSWER_NO, DT_ANSWER_YES };

/* `functions`: there are probes on kernel functions; their features are probed only then. */
void dt_features_find(struct dt_features *f, dt_arena *arena, bool functions, dt_types *ts);
bool dt_feature(const struct dt_features *f, enum dt_feature which);

#endif

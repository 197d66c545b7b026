/*
 * guard: processes that programs in the kernel stop (SIGSTOP) for a moment, and the certainty that they continue.
 *
 * A stop signal outlives the program that sent it. So whoever lets programs stop processes keeps a list of them in memory
 * that the programs share, and starts a guard: a process that continues all of them when the tracer has died, however that
 * happened, or is stopped itself. The tracer starts another guard if that one is killed.
 *
 *	program:	if (*armed) { send SIGSTOP; entry->stops++; }
 *	tracer, guard:	n = entry->stops; if (n != entry->resumed) { send SIGCONT; entry->resumed = n; }
 *
 * SIGCONT cancels a SIGSTOP that is pending, so each stop that was counted is undone. One that is sent in between is
 * counted after it was sent, and undone the next time.
 */
#ifndef DT_PROC_GUARD_H
#define DT_PROC_GUARD_H

#include "base/base.h"

struct dt_guarded { /* shared with programs */
	uint64_t pid;	  /* 0: free */
	uint64_t stops;	  /* signals sent so far */
	uint64_t resumed; /* the value of stops when it was last continued */
};

struct dt_guard_list {
	uint64_t *armed; /* programs may stop processes */
	struct dt_guarded *v;
	uint32_t n;
};

/* NULL with *err. */
struct dt_guard *dt_guard_start(const struct dt_guard_list *list, dt_error *err);
bool dt_guard_alive(const struct dt_guard *g);
void dt_guard_free(struct dt_guard *g); /* may be NULL */
/* Continue those that have been stopped since the last time; how many. */
uint32_t dt_guard_continue(const struct dt_guard_list *list);
/* Those that are stopped although that was undone: a signal that the kernel has sent late. Only those that were stopped
 * at some time. */
void dt_guard_sweep(const struct dt_guard_list *list);

#endif

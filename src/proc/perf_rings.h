/*
 * perf_rings: one perf event on every CPU, and the records that the kernel writes for it, in order
 * of time.
 *
 * Each CPU has its own ring. A record must not be returned before an older one of another CPU that
 * is still being written: so only records older than the start of the call are returned, and the
 * others wait for the next call.
 */
#ifndef DT_PROC_PERF_RINGS_H
#define DT_PROC_PERF_RINGS_H

#include <linux/perf_event.h>

#include "base/base.h"

typedef struct dt_perf_rings dt_perf_rings;

/* The event's sample_type must be PERF_SAMPLE_TIME, with sample_id_all and CLOCK_MONOTONIC: a
 * record ends with its time. size: bytes of each ring, a power of two; smaller ones are tried when
 * they are refused. NULL with *err. */
dt_perf_rings *dt_perf_rings_open(const struct perf_event_attr *attr, size_t size, dt_error *err);
void dt_perf_rings_free(dt_perf_rings *r);
int dt_perf_rings_fd(const dt_perf_rings *r); /* readable when a ring is filling up */
typedef void dt_perf_record_f(void *arg, uint64_t time, const struct perf_event_header *h);
uint64_t
dt_perf_rings_lost(const dt_perf_rings *r); /* records since the start, as of the last read */
void dt_perf_rings_read(dt_perf_rings *r, dt_perf_record_f *fn, void *arg);

#endif

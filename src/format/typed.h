/*
 * typed: from the consumer's values and tables to the public ones of include/dtrace.h.
 *
 * A maker creates public values; they live in its pool until dt_typed_reset(). The functions of the
 * API that take such a value find their maker in it.
 */
#ifndef DT_TYPED_H
#define DT_TYPED_H

#include "dtrace.h"
#include "consume/writer.h"

typedef struct dt_typed dt_typed;

dt_typed *dt_typed_new(const struct dt_consumer_env *env);
void dt_typed_free(dt_typed *m);
void dt_typed_reset(dt_typed *m);
dtrace_value_t *dt_typed_values(dt_typed *m, uint32_t n); /* n in a row, to be set */
void dt_typed_set(dt_typed *m, dtrace_value_t *to, const dt_value *v, const char *name);
dtrace_value_t *dt_typed_nth(dtrace_value_t *values, uint32_t i);

/* The rows of a table, one by one, to f. 0, or what f returned if that was not 0. */
int dt_typed_rows(dt_typed *m, const dt_aggtable *t, unsigned snapshot, dtrace_row_f *f, void *arg);

void dt_typed_probe(const dt_probe *p, struct dtrace_probeinfo *out);

#endif

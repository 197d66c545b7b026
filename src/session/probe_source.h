/*
 * probe_source: the compiler's view of the probes of a session.
 */
#ifndef DT_PROBE_SOURCE_H
#define DT_PROBE_SOURCE_H

#include "lang/lang.h"
#include "probe/probe.h"

void dt_probe_source_init(dt_probes *ps, struct dt_probe_source *out);
/* Do the two probes have the same arguments, as args[] sees them? */
bool dt_probe_same_args(dt_probes *ps, const dt_probe *a, const dt_probe *b);

#endif

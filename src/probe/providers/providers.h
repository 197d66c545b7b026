/*
 * providers: one file each; this header declares them all. providers.def lists them and the ids
 * that each has.
 */
#ifndef DT_PROVIDERS_H
#define DT_PROVIDERS_H

#include "probe/probe.h"

#define DT_PROVIDER(id, first, n) extern const dt_provider dt_provider_##id;
#include "probe/providers/providers.def"
#undef DT_PROVIDER

/* Of the provider with this symbol: its ids. */
enum {
#define DT_PROVIDER(id, first, n) DT_FIRST_ID_##id = first, DT_ID_COUNT_##id = n,
#include "probe/providers/providers.def"
#undef DT_PROVIDER
};
#define DT_PROVIDER_IDS(id) .id_base = DT_FIRST_ID_##id, .id_count = DT_ID_COUNT_##id

bool dt_fbt_has(dt_probes *ps, const char *module, const char *func, bool on_return); /* can it be traced? */
/* Why it cannot; `why` may stay empty. */
void dt_fbt_missing(dt_probes *ps, const char *module, const char *func, bool on_return, char *why, size_t whylen);
/* Why a description names no kernel function that can be traced (fbt.c); `why` may stay empty. */
void dt_fbt_explain(dt_probes *ps, const dt_probedesc *d, char *why, size_t whylen);

/* Stability in the order name, data, class. */
#define DT_ATTR(n, d, c)                                                                           \
	{                                                                                          \
		DT_STAB_##n, DT_STAB_##d, DT_CLASS_##c                                             \
	}

#endif

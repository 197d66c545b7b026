/*
 * providers: one file each; this header only brings them together for table.c.
 *
 * Ranges of ids, which must never overlap nor move:
 *
 *	dtrace	     1 .. 9
 *	profile	    10 .. 9999
 *	syscall	 10000 .. 19999
 *	sdt	 20000 .. 39999
 */
#ifndef DT_PROVIDERS_H
#define DT_PROVIDERS_H

#include "probe/probe.h"

extern const dt_provider dt_provider_dtrace;
extern const dt_provider dt_provider_profile;
extern const dt_provider dt_provider_syscall;
extern const dt_provider dt_provider_sdt;

/* Stability in the order name, data, class. */
#define DT_ATTR(n, d, c)                                                                           \
	{                                                                                          \
		DT_STAB_##n, DT_STAB_##d, DT_CLASS_##c                                             \
	}

#endif

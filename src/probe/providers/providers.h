/*
 * providers: one file each; this header only brings them together for table.c.
 *
 * Ranges of ids, which must never overlap nor move:
 *
 *	dtrace	     1 .. 9
 *	profile	    10 .. 9999
 *	syscall	 10000 .. 19999
 *	sdt	 20000 .. 39999
 *	stable	 40000 .. 59999	100 for each, as table.c lists them: proc 40000, sched 40100,
 *			ip 40600, tcp 40700, udp 40800, sctp 40900
 *	pid	1000000 .. 1999999 (given as they are discovered)
 *	usdt	2000000 .. 2999999 (the same)
 */
#ifndef DT_PROVIDERS_H
#define DT_PROVIDERS_H

#include "probe/probe.h"

extern const dt_provider dt_provider_dtrace;
extern const dt_provider dt_provider_profile;
extern const dt_provider dt_provider_syscall;
extern const dt_provider dt_provider_sdt;
extern const dt_provider dt_provider_proc, dt_provider_sched;
extern const dt_provider dt_provider_ip, dt_provider_tcp, dt_provider_udp, dt_provider_sctp;
extern const dt_provider dt_provider_pid, dt_provider_usdt;

/* Stability in the order name, data, class. */
#define DT_ATTR(n, d, c)                                                                           \
	{                                                                                          \
		DT_STAB_##n, DT_STAB_##d, DT_CLASS_##c                                             \
	}

#endif

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
 *			io 40200, vfs 40300, fsinfo 40400,
 *			ip 40600, tcp 40700, udp 40800, sctp 40900, udplite 41000
 *	cpc	 60000 .. 69999
 *	fbt	100000 .. 499999	two for each function
 *	kinst	500000 .. 899999
 *			lockstat 41100, vminfo 41200, sysinfo 41300, callout_execute 41400, priv 41500,
 *			audit 41600 (200), mac_framework 41800 (300), dtmalloc 43000 (2000)
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
extern const dt_provider dt_provider_io, dt_provider_vfs, dt_provider_fsinfo;
extern const dt_provider dt_provider_ip, dt_provider_tcp, dt_provider_udp, dt_provider_udplite, dt_provider_sctp;
extern const dt_provider dt_provider_cpc, dt_provider_fbt, dt_provider_kinst;
bool dt_fbt_has(dt_probes *ps, const char *module, const char *func, bool on_return); /* can it be traced? */
/* Why it cannot; `why` may stay empty. */
void dt_fbt_missing(dt_probes *ps, const char *module, const char *func, bool on_return, char *why, size_t whylen);
/* Why a description names no kernel function that can be traced (fbt.c); `why` may stay empty. */
void dt_fbt_explain(dt_probes *ps, const dt_probedesc *d, char *why, size_t whylen);
extern const dt_provider dt_provider_lockstat, dt_provider_vminfo, dt_provider_sysinfo, dt_provider_callout, dt_provider_priv, dt_provider_audit, dt_provider_mac,
    dt_provider_dtmalloc;
extern const dt_provider dt_provider_pid, dt_provider_usdt;

/* Stability in the order name, data, class. */
#define DT_ATTR(n, d, c)                                                                           \
	{                                                                                          \
		DT_STAB_##n, DT_STAB_##d, DT_CLASS_##c                                             \
	}

#endif
